/* A letter that was sent to its origin and is dead again, in a place that is adopted: the same
 * letter, with its history longer. It is known by the headers that it was sent with
 * (core/comeback.h), and where messages have no headers by its id and body. */
#include "triage/adopt_state.h"

/* What it says of itself, or what the one that has its id would say. */
static bool read_marks(struct store *store, const struct store_held *came, struct comeback *out,
                       struct store_held **letter, enum status *status, struct err *err) {
    const struct envelope *envelope = &came->envelope;
    bool marked = comeback_read(envelope->headers, envelope->header_count, out);
    *status = marked ? store->vtable->get(store, BYTES_NONE, out->letter, letter, err)
                     : store->vtable->get(store, envelope->queue, envelope->id, letter, err);
    if (*status != STATUS_OK)
        return false;
    if (!marked)
        *out = (struct comeback){(*letter)->envelope.letter_id, (*letter)->envelope.replays};
    return marked || (*letter)->envelope.to_origin;
}

#define MIRRORED BYTES("dlq-letter-id")

static enum status find_mirrored(struct store *store, const struct envelope *came,
                                 struct store_held **letter, struct err *err) {
    for (size_t i = 0; i < came->header_count; i++)
        if (bytes_eq_nocase(came->headers[i].name, MIRRORED))
            return store->vtable->get(store, BYTES_NONE, came->headers[i].value, letter, err);
    return STATUS_NOT_FOUND;
}

enum status adopt_comeback_find(struct store *store, const struct store_held *came,
                                enum comeback_is *is, struct store_held **letter, struct err *err) {
    struct comeback comeback;
    enum status status;
    *letter = NULL;
    *is = COMEBACK_STRANGER;
    if (read_marks(store, came, &comeback, letter, &status, err))
        *is = comeback_judge(&comeback, &(*letter)->envelope, (*letter)->envelope.queue,
                             bytes_eq((*letter)->body, came->body));
    if (*is == COMEBACK_STRANGER) {
        store_held_free(*letter);
        *letter = NULL;
        status = find_mirrored(store, &came->envelope, letter, err);
        *is = status == STATUS_OK ? COMEBACK_HELD : COMEBACK_STRANGER;
    }
    return status == STATUS_NOT_FOUND || status == STATUS_CONFLICT ? STATUS_OK : status;
}

static void note_death(struct store_held *letter, const struct envelope *came) {
    struct envelope *envelope = &letter->envelope;
    struct envelope_note note = {.attempt = came->attempts,
                                 .replay = envelope->replays,
                                 .at = came->dead_at,
                                 .counted = true,
                                 .verdict = VERDICT_DLQ,
                                 .category = came->category,
                                 .error_type = came->error_type,
                                 .error_message = came->error_message,
                                 .delay_ms = -1};
    envelope_note(envelope, &letter->arena, &note);
}

/* The failure is that of the last death; when it first failed stays as it was. */
static void die_again(struct envelope *envelope, const struct envelope *came) {
    envelope->state = STATE_PENDING_REVIEW;
    envelope->resolution = RESOLUTION_NONE;
    envelope->resolved_at = WALL_NEVER;
    envelope->cause = CAUSE_ADOPTED;
    envelope->category = came->category;
    envelope->reason = came->reason;
    envelope->failed = came->failed;
    envelope->kind = came->kind;
    envelope->status = came->status;
    envelope->error_type = came->error_type;
    envelope->error_message = came->error_message;
    envelope->stack_trace = came->stack_trace;
    envelope->fingerprint = came->fingerprint;
    envelope->attempts = came->attempts;
    envelope->max_attempts = came->max_attempts;
    envelope->last_failure_at = came->last_failure_at;
    envelope->dead_at = came->dead_at;
    envelope->context = came->context;
    envelope->read_only = came->read_only;
    envelope->closes_key = false; /* it was let through when it was sent */
}

struct store_op adopt_comeback_op(struct store *store, struct store_held *letter,
                                  const struct store_held *came) {
    struct envelope *envelope = &letter->envelope;
    note_death(letter, &came->envelope);
    comeback_join(envelope, &came->envelope, &letter->arena);
    die_again(envelope, &came->envelope);
    return (struct store_op){.kind = STORE_UPDATE,
                             .queue = store->vtable->queue_number(store, envelope->queue),
                             .seq = letter->seq,
                             .envelope = envelope,
                             .from = 1u << STATE_RESOLVED};
}
