/* adopt_comeback: a letter that was sent to its origin, died there again, and was found in an
 * adopted place. It becomes the same letter again, with a longer history. It is recognised by the
 * headers that it was sent with (core/comeback.h), or by id and body where the broker has no
 * headers.
 *
 * A duplicate of it, and a message that our own mirror published, make no letter. Any doubt makes
 * one: a record can die twice (in two consumer groups, say), and other programs copy headers. */
#include <assert.h>

#include "core/lifecycle.h"
#include "triage/adopt/adopt_state.h"
#include "triage/adopt/formats/convention.h"

#define MIRRORED BYTES("dlq-letter-id")

static bool is_trouble(enum status status) {
    return status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_CONFLICT;
}

static void set_letter(struct adopt_comeback *out, struct message *letter) {
    message_free(out->letter);
    out->letter = letter;
}

/* The letter that the message's headers name; otherwise the one with its id, if that was sent to
 * its origin. */
static enum status find_sent(struct store *store, const struct message *came,
                             struct adopt_comeback *out, struct err *err) {
    const struct envelope *envelope = &came->envelope;
    struct message *letter = NULL;
    struct comeback comeback;
    enum status status = letters_get(store->letters, envelope->queue, envelope->id, &letter, err);
    set_letter(out, letter);
    out->id_held = status != STATUS_NOT_FOUND;
    bool marked = comeback_read(envelope->headers, envelope->header_count, &comeback);
    if (marked && !is_trouble(status)) {
        letter = NULL;
        status = letters_get(store->letters, BYTES_NONE, comeback.letter, &letter, err);
        set_letter(out, letter);
    }
    if (status != STATUS_OK || (!marked && !out->letter->envelope.to_origin))
        return status;
    const struct envelope *sent = &out->letter->envelope;
    if (!marked)
        comeback = (struct comeback){sent->letter_id, sent->replays};
    out->is = comeback_judge(&comeback, sent, sent->queue, bytes_eq(out->letter->body, came->body));
    return STATUS_OK;
}

static enum status find_mirrored(struct store *store, const struct message *came,
                                 struct adopt_comeback *out, struct err *err) {
    const struct envelope *envelope = &came->envelope;
    struct message *letter = NULL;
    enum status status = STATUS_NOT_FOUND;
    for (size_t i = 0; i < envelope->header_count && status == STATUS_NOT_FOUND; i++)
        if (bytes_eq_nocase(envelope->headers[i].name, MIRRORED))
            status =
                letters_get(store->letters, BYTES_NONE, envelope->headers[i].value, &letter, err);
    set_letter(out, letter);
    if (status == STATUS_OK && bytes_eq(letter->body, came->body))
        out->is = COMEBACK_HELD;
    return status;
}

/* A decided letter is about an earlier death. */
static bool has_ended(const struct envelope *letter) {
    return letter->state == STATE_RESOLVED || letter->state == STATE_DISCARDED;
}

enum status adopt_comeback_find(struct store *store, const struct message *message,
                                const struct message *came, struct adopt_comeback *out,
                                struct err *err) {
    *out = (struct adopt_comeback){.is = COMEBACK_STRANGER};
    enum status status = find_sent(store, came, out, err);
    if (out->is == COMEBACK_HELD && has_ended(&out->letter->envelope))
        out->is = COMEBACK_STRANGER;
    if (out->is == COMEBACK_STRANGER && !is_trouble(status) && convention_is_mirror(message))
        status = find_mirrored(store, came, out, err);
    return is_trouble(status) ? status : STATUS_OK;
}

static void note_death(struct message *letter, const struct envelope *came) {
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

/* The failure is that of the latest death; first_failure_at stays. */
static void die_again(struct envelope *envelope, const struct envelope *came) {
    lifecycle_come_back_dead(envelope, came->dead_at);
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
    envelope->context = came->context;
    envelope->read_only = came->read_only;
    envelope->closes_key = false; /* sending it to its origin opened its key */
}

struct store_op adopt_comeback_op(struct store *store, struct message *letter,
                                  const struct message *came) {
    assert(letter->seq != 0);
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
