/* orphan_removal: see the header. */
#include "triage/decide/orphan_removal.h"

#include <assert.h>
#include <string.h>
#include "core/lifecycle.h"

enum { CHUNK = 16 * 1024, LIVE = 1u << STATE_QUEUED | 1u << STATE_PENDING_RETRY };

struct removal {
    struct message *held;
    struct err *outcome;
    struct store_op *op;
};

/* The DLQ of a message whose queue has no policy any more. */
static struct bytes dlq_of(struct message *held) {
    static const char suffix[] = ".dlq";
    const struct envelope *envelope = &held->envelope;
    if (envelope_awaits_room(envelope) && envelope->dlq.len > 0)
        return envelope->dlq;
    size_t len = envelope->queue.len;
    char *name = arena_alloc(&held->arena, len + sizeof suffix);
    memcpy(name, envelope->queue.ptr, len);
    memcpy(name + len, suffix, sizeof suffix);
    return (struct bytes){name, len + sizeof suffix - 1};
}

/* The same changes as the engine's (engine/removal.c, judge_bury). */
static void make_letter(struct triage *triage, const struct orphan_order *order,
                        struct message *held) {
    assert(LIVE >> held->envelope.state & 1u);
    struct envelope *envelope = &held->envelope;
    struct wall now = triage_now(triage).wall;
    char id[UUID_TEXT_SIZE];
    triage_new_id(triage, now, id);
    envelope->dlq = dlq_of(held);
    envelope->letter_id = arena_dup(&held->arena, bytes_of(id));
    envelope->why = order->why;
    if (envelope->category.len == 0)
        envelope->category = BYTES("unknown");
    if (envelope->reason.len == 0)
        envelope->reason = BYTES("operator");
    if (order->bury)
        lifecycle_die(envelope, now);
    else
        lifecycle_discard(envelope, now);
    envelope->cause = CAUSE_OPERATOR;
    envelope->lease_ms = 0;
    envelope->blocked_by = BYTES_NONE;
    envelope->refused = envelope->suspect = false;
    envelope->closes_key = order->bury && envelope->key.ptr;
}

/* Reads the message without its body, which stays unchanged. False: it must not be changed;
 * *outcome says why. */
static bool load(struct triage *triage, uint64_t seq, struct removal *removal) {
    struct store *store = triage->store;
    struct err *outcome = removal->outcome;
    outcome->status = letters_get_seq(store->letters, seq, &removal->held, outcome);
    if (outcome->status != STATUS_OK) {
        removal->held = NULL;
        return false;
    }
    const struct envelope *envelope = &removal->held->envelope;
    message_drop_body(removal->held);
    if (envelope->letter_id.len > 0)
        err_set(outcome, STATUS_CONFLICT, "it is a letter (%s)", state_text(envelope->state));
    else if (!(LIVE >> envelope->state & 1u))
        err_set(outcome, STATUS_CONFLICT, "it is %s", state_text(envelope->state));
    return outcome->status == STATUS_OK;
}

enum status orphan_remove(struct triage *triage, const struct orphan_order *order,
                          const uint64_t *seqs, size_t count, struct err *each, struct err *err) {
    struct removal removals[ORPHAN_REMOVALS_MAX];
    struct store_op ops[ORPHAN_REMOVALS_MAX + 1];
    struct arena arena;
    size_t changes = 0;
    assert(count <= ORPHAN_REMOVALS_MAX);
    arena_init_heap(&arena, CHUNK);
    for (size_t i = 0; i < count; i++) {
        removals[i] = (struct removal){.outcome = &each[i]};
        if (!load(triage, seqs[i], &removals[i]))
            continue;
        struct message *held = removals[i].held;
        make_letter(triage, order, held);
        removals[i].op = &ops[changes++];
        *removals[i].op = (struct store_op){
            .kind = STORE_UPDATE,
            .queue = triage->store->vtable->queue_number(triage->store, held->envelope.queue),
            .seq = held->seq,
            .envelope = &held->envelope,
            .from = LIVE};
    }
    enum status status = STATUS_OK;
    if (changes > 0) {
        ops[changes] = audit_op(order->entry, &arena);
        status = triage_commit(triage, ops, changes + 1, err);
    }
    for (size_t i = 0; i < count; i++) {
        if (status == STATUS_OK && removals[i].op && removals[i].op->skipped)
            err_set(&each[i], STATUS_CONFLICT, "it is no longer waiting");
        message_free(removals[i].held);
    }
    arena_free(&arena);
    return status;
}
