/* A store that lies, to show that the simulation would see it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/attempt/attempt_log.h"
#include "world.h"

enum { QUEUE_NUMBERS = 64 }; /* more than there are queues: a crash may leave some unused */

struct saboteur {
    struct store store;
    struct letters letters;
    struct store *real;
    enum sabotage how;
    struct arena echoes;
    uint64_t last_probe[QUEUE_NUMBERS]; /* by the queue's number */
};

static struct store *real(struct store *store) {
    return ((struct saboteur *)store)->real;
}

static struct saboteur *saboteur_of(struct letters *letters) {
    return CONTAINER_OF(letters, struct saboteur, letters);
}

static struct letters *truth(struct letters *letters) {
    return saboteur_of(letters)->real->letters;
}

const char *sabotage_text(enum sabotage how) {
    static const char *const words[] = {
        "none",          "early-ack",     "lost-wake", "forgotten-retry", "double-take",
        "blame-all",     "lost-lease",    "no-order",  "forgotten-key",   "lost-answer",
        "false-resolve", "no-waiting",    "no-room",   "lost-probes",     "hasty-death",
        "one-probe",     "hasty-refusal", "no-others", "lost-removal"};
    return words[how];
}

void sabotage_blame_all(char *slots, size_t size) {
    enum { SLOT_SIZE = 24, STATE_AT = 20 };
    for (size_t at = SLOT_SIZE; at + SLOT_SIZE <= size; at += SLOT_SIZE) {
        uint32_t state;
        memcpy(&state, slots + at + STATE_AT, sizeof state);
        if (state == ATTEMPT_LOG_RUNNING)
            slots[at + STATE_AT] = ATTEMPT_LOG_ALONE;
    }
}

static uint32_t queue_number(struct store *store, struct bytes name) {
    return real(store)->vtable->queue_number(real(store), name);
}

/* The true answer of a commit that was answered too early. */
static void swallow(struct store_commit *commit, enum status status) {
    (void)commit;
    (void)status;
}

static const struct envelope *without_lease(struct saboteur *saboteur,
                                            const struct envelope *envelope) {
    struct envelope *copy = arena_alloc(&saboteur->echoes, sizeof *copy);
    *copy = *envelope;
    copy->lease_ms = 0;
    return copy;
}

static const struct envelope *resolved(struct saboteur *saboteur, const struct envelope *envelope) {
    struct envelope *copy = arena_alloc(&saboteur->echoes, sizeof *copy);
    *copy = *envelope;
    copy->state = STATE_RESOLVED;
    copy->resolution = RESOLUTION_REPLAYED;
    return copy;
}

static const struct envelope *without_probes(struct saboteur *saboteur,
                                             const struct envelope *envelope) {
    struct envelope *copy = arena_alloc(&saboteur->echoes, sizeof *copy);
    *copy = *envelope;
    copy->probes = 0;
    return copy;
}

static bool failed_uncounted(const struct store_op *op) {
    const struct envelope *envelope = op->envelope;
    const struct envelope_note *last = envelope && envelope->history_count
                                           ? &envelope->history[envelope->history_count - 1]
                                           : NULL;
    return op->kind == STORE_UPDATE && envelope->state == STATE_PENDING_RETRY && last &&
           !last->counted && !last->interrupted;
}

static const struct envelope *dead(struct saboteur *saboteur, const struct envelope *envelope,
                                   uint64_t seq, enum cause cause) {
    struct envelope *copy = arena_alloc(&saboteur->echoes, sizeof *copy);
    char *letter_id = arena_alloc(&saboteur->echoes, 64), *dlq = arena_alloc(&saboteur->echoes, 64);
    snprintf(letter_id, 64, "00000000-0000-7000-8000-%012llu", (unsigned long long)seq);
    snprintf(dlq, 64, "%.*s.dlq", BYTES_ARG(envelope->queue));
    *copy = *envelope;
    copy->letter_id = bytes_of(letter_id);
    copy->dlq = bytes_of(dlq);
    copy->state = STATE_PENDING_REVIEW;
    copy->cause = cause;
    copy->refused = false;
    copy->next_attempt_at = WALL_NEVER;
    return copy;
}

static const struct envelope *waiting(struct saboteur *saboteur, const struct envelope *envelope) {
    struct envelope *copy = arena_alloc(&saboteur->echoes, sizeof *copy);
    *copy = *envelope;
    copy->state = STATE_QUEUED;
    copy->letter_id = copy->dlq = BYTES_NONE;
    copy->next_attempt_at = WALL_NEVER;
    return copy;
}

static void submit(struct store *store, struct store_commit *commit) {
    struct saboteur *saboteur = (struct saboteur *)store;
    for (size_t i = 0; i < commit->count; i++) {
        struct store_op *op = &commit->ops[i];
        if (saboteur->how == SABOTAGE_FORGOTTEN_RETRY && op->kind == STORE_UPDATE &&
            op->envelope->state == STATE_PENDING_RETRY)
            op->kind = STORE_FORGET;
        if (saboteur->how == SABOTAGE_FALSE_RESOLVE && op->kind == STORE_UPDATE &&
            op->envelope->state == STATE_REPLAYING)
            op->envelope = resolved(saboteur, op->envelope);
        if (saboteur->how == SABOTAGE_LOST_PROBES && op->envelope && op->envelope->probes > 0)
            op->envelope = without_probes(saboteur, op->envelope);
        if (saboteur->how == SABOTAGE_HASTY_DEATH && failed_uncounted(op))
            op->envelope = dead(saboteur, op->envelope, op->seq, CAUSE_EXHAUSTED);
        if (saboteur->how == SABOTAGE_HASTY_REFUSAL && op->kind == STORE_UPDATE &&
            op->envelope->refused)
            op->envelope = dead(saboteur, op->envelope, op->seq, CAUSE_TERMINAL);
        if (saboteur->how == SABOTAGE_LOST_REMOVAL && op->kind == STORE_UPDATE &&
            op->envelope->cause == CAUSE_OPERATOR)
            op->envelope = waiting(saboteur, op->envelope);
        if (saboteur->how == SABOTAGE_LOST_ANSWER && op->kind == STORE_KEEP)
            op->keep.value = BYTES_NONE;
        if (saboteur->how == SABOTAGE_LOST_LEASE && op->envelope && op->envelope->lease_ms > 0)
            op->envelope = without_lease(saboteur, op->envelope);
    }
    if (saboteur->how != SABOTAGE_EARLY_ACK) {
        real(store)->vtable->submit(real(store), commit);
        return;
    }
    struct store_commit *echo = arena_alloc(&saboteur->echoes, sizeof *echo);
    *echo = *commit;
    echo->done = swallow;
    real(store)->vtable->submit(real(store), echo);
    commit->done(commit, STATUS_OK);
}

static size_t take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max) {
    struct saboteur *saboteur = (struct saboteur *)store;
    if (saboteur->how == SABOTAGE_NO_OTHERS && which == TAKE_FAR)
        return 0;
    bool one =
        saboteur->how == SABOTAGE_ONE_PROBE && which == TAKE_DUE_LONGEST && queue < QUEUE_NUMBERS;
    if (one && (out[0] = real(store)->vtable->take_one(real(store), queue,
                                                       saboteur->last_probe[queue])) != NULL)
        return 1;
    size_t got = real(store)->vtable->take(real(store), queue, which, now, out, max);
    if (one && got > 0)
        saboteur->last_probe[queue] = out[0]->seq;
    if (saboteur->how == SABOTAGE_DOUBLE_TAKE && got > 0 && got < max) {
        struct message *twin = NULL;
        struct envelope *envelope = &out[0]->envelope;
        if (letters_get(real(store)->letters, envelope->queue, envelope->id, &twin, NULL) ==
            STATUS_OK)
            out[got++] = twin;
    }
    if (saboteur->how == SABOTAGE_NO_WAITING && which == TAKE_DUE && got < max) {
        struct arena arena;
        struct store_count *rooms;
        arena_init_heap(&arena, 256);
        if (real(store)->vtable->awaiting_room(real(store), queue, &arena, &rooms) > 0)
            got +=
                real(store)->vtable->take_for_room(real(store), queue, rooms[0].name, out + got, 1);
        arena_free(&arena);
    }
    return got;
}

static struct message *take_one(struct store *store, uint32_t queue, uint64_t seq) {
    return real(store)->vtable->take_one(real(store), queue, seq);
}

static struct message *take_any(struct store *store, uint32_t queue, uint64_t seq) {
    return real(store)->vtable->take_any(real(store), queue, seq);
}

static size_t take_blocked(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max) {
    return real(store)->vtable->take_blocked(real(store), queue, limit, out, max);
}

static size_t take_for_room(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max) {
    return real(store)->vtable->take_for_room(real(store), queue, dlq, out, max);
}

static size_t awaiting_room(struct store *store, uint32_t queue, struct arena *arena,
                            struct store_count **out) {
    if (((struct saboteur *)store)->how == SABOTAGE_NO_ROOM)
        return 0;
    return real(store)->vtable->awaiting_room(real(store), queue, arena, out);
}

static void set_order(struct store *store, uint32_t queue, enum store_order order) {
    bool lie = ((struct saboteur *)store)->how == SABOTAGE_NO_ORDER;
    real(store)->vtable->set_order(real(store), queue, lie ? ORDER_NONE : order);
}

/* Whoever asks whether a key succeeded is told that it did not. */
static enum status note(struct letters *letters, uint32_t queue, const char *space,
                        struct bytes name, struct wall now, struct arena *arena,
                        struct bytes *value, struct err *err) {
    if (saboteur_of(letters)->how == SABOTAGE_FORGOTTEN_KEY)
        return err_set(err, STATUS_NOT_FOUND, "forgotten on purpose");
    return letters_note(truth(letters), queue, space, name, now, arena, value, err);
}

static void give_back(struct store *store, struct message *held, struct mono due) {
    real(store)->vtable->give_back(real(store), held, due);
}

static struct mono next_ready(struct store *store, uint32_t queue, enum store_take which) {
    return real(store)->vtable->next_ready(real(store), queue, which);
}

static void counts(struct store *store, uint32_t queue, struct store_queue_counts *out) {
    real(store)->vtable->counts(real(store), queue, out);
}

static struct bytes queue_facts(struct store *store, uint32_t queue, struct arena *arena) {
    return real(store)->vtable->queue_facts(real(store), queue, arena);
}

static enum status get(struct letters *letters, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err) {
    return letters_get(truth(letters), queue, id, out, err);
}

static enum status holds(struct letters *letters, uint32_t queue, const struct bytes *ids,
                         size_t count, bool *out, struct err *err) {
    return letters_holds(truth(letters), queue, ids, count, out, err);
}

static enum status get_seq(struct letters *letters, uint64_t seq, struct message **out,
                           struct err *err) {
    return letters_get_seq(truth(letters), seq, out, err);
}

static uint64_t next_seq(struct store *store) {
    return real(store)->vtable->next_seq(real(store));
}

static uint64_t dlq_depth(struct store *store, struct bytes name) {
    return real(store)->vtable->dlq_depth(real(store), name);
}

static enum status notes(struct letters *letters, const char *space, struct bytes prefix,
                         struct bytes after, bool descending, size_t limit, struct arena *arena,
                         struct letters_note *out, size_t *count, struct err *err) {
    return letters_notes(truth(letters), space, prefix, after, descending, limit, arena, out, count,
                         err);
}

static enum status dlq(struct letters *letters, struct bytes name, struct wall now,
                       struct arena *arena, struct letters_dlq *out, struct err *err) {
    return letters_dlq(truth(letters), name, now, arena, out, err);
}

static void listen(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg) {
    if (((struct saboteur *)store)->how != SABOTAGE_LOST_WAKE)
        real(store)->vtable->listen(real(store), ready, arg);
}

/* What the engine does not call is not there. */
static const struct store_vtable vtable = {
    .kind = "saboteur",
    .queue_number = queue_number,
    .submit = submit,
    .take = take,
    .take_one = take_one,
    .take_any = take_any,
    .take_blocked = take_blocked,
    .take_for_room = take_for_room,
    .awaiting_room = awaiting_room,
    .set_order = set_order,
    .give_back = give_back,
    .next_ready = next_ready,
    .counts = counts,
    .next_seq = next_seq,
    .queue_facts = queue_facts,
    .dlq_depth = dlq_depth,
    .listen = listen,
};

static const struct letters_vtable letters_vtable = {
    .get = get,
    .get_seq = get_seq,
    .holds = holds,
    .note = note,
    .notes = notes,
    .dlq = dlq,
};

struct store *sabotage_new(struct store *real_store, enum sabotage how) {
    struct saboteur *saboteur = memory_new(sizeof *saboteur);
    saboteur->letters.vtable = &letters_vtable;
    saboteur->store = (struct store){.vtable = &vtable, .letters = &saboteur->letters};
    saboteur->real = real_store;
    saboteur->how = how;
    arena_init_heap(&saboteur->echoes, 4096);
    return &saboteur->store;
}

/* After the real store, which may still hold echoes. */
void sabotage_free(struct store *store) {
    arena_free(&((struct saboteur *)store)->echoes);
    free(store);
}
