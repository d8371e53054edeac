#include "triage/queue_move.h"

#include <string.h>

enum {
    CHUNK = 16 * 1024,
    ROUNDS_MAX = 16, /* of asking for what the lists are behind with; each may wait 2 s */
    BATCH_BYTES = STORE_COMMIT_BYTES / 4,
    LIVE = 1u << STATE_QUEUED | 1u << STATE_PENDING_RETRY,
    DECIDED = 1u << STATE_RESOLVED | 1u << STATE_DISCARDED,
    MOVABLE = LIVE | DECIDED | 1u << STATE_PENDING_REVIEW,
};

static uint32_t number_of(struct store *store, struct bytes queue) {
    struct arena arena;
    struct bytes *names;
    uint32_t number = 0;
    arena_init_heap(&arena, CHUNK);
    size_t count = store->vtable->queue_names(store, &arena, &names);
    for (size_t i = 0; i < count; i++)
        if (names[i].len > 0 && bytes_eq(names[i], queue))
            number = (uint32_t)i + 1;
    arena_free(&arena);
    return number;
}

enum status queue_move_holding(struct triage *triage, struct bytes queue, struct queue_holding *out,
                               struct err *err) {
    struct store *store = triage->store;
    struct store_query query = {.queue = queue,
                                .states = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING};
    struct store_queue_counts counts;
    struct store_sum sum;
    *out = (struct queue_holding){.number = number_of(store, queue)};
    if (out->number == 0)
        return STATUS_OK;
    enum status status = store->vtable->sum(store, &query, &sum, err);
    if (status != STATUS_OK)
        return status;
    store->vtable->counts(store, out->number, &counts);
    out->waiting = counts.queued + counts.pending_retry;
    out->taken = counts.taken;
    out->letters = sum.count[STATE_PENDING_REVIEW];
    out->replaying = sum.count[STATE_REPLAYING];
    return STATUS_OK;
}

/* ---- rename ---- */

struct move {
    struct triage *triage;
    struct audit_entry *entry;
    struct bytes to;
    uint32_t from_number, to_number;
    struct queue_moved *moved;
    struct err *err;
    /* The batch: a FORGET and a PUT for each message, and the audit. */
    struct store_held *held[QUEUE_MOVE_PAGE];
    size_t held_count;
    size_t bytes;
};

/* "orders.dlq.validation" of queue orders becomes "prices.dlq.validation". */
static struct bytes renamed_dlq(const struct move *move, struct bytes dlq, struct arena *arena) {
    static const struct bytes suffix = BYTES(".dlq");
    struct bytes from = move->entry->subject;
    struct bytes rest = bytes_starts(dlq, from) ? bytes_cut(dlq, from.len, dlq.len) : BYTES_NONE;
    if (!bytes_starts(rest, suffix) || (rest.len > suffix.len && rest.ptr[suffix.len] != '.'))
        return dlq;
    char *text = arena_alloc(arena, move->to.len + rest.len);
    memcpy(text, move->to.ptr, move->to.len);
    memcpy(text + move->to.len, rest.ptr, rest.len);
    return (struct bytes){text, move->to.len + rest.len};
}

/* A message that was taken meanwhile stays where it is: its copy goes again. */
static enum status drop_copies(struct move *move, const struct store_op *ops, struct arena *arena) {
    struct store_op *drops = arena_alloc(arena, QUEUE_MOVE_PAGE * sizeof *drops);
    size_t count = 0;
    for (size_t i = 0; i < move->held_count; i++)
        if (ops[2 * i].skipped && !ops[2 * i + 1].duplicate)
            drops[count++] = (struct store_op){.kind = STORE_FORGET,
                                               .queue = move->to_number,
                                               .seq = ops[2 * i + 1].seq,
                                               .from = MOVABLE};
    return count ? triage_commit(move->triage, drops, count, move->err) : STATUS_OK;
}

static void count_moved(struct move *move, const struct store_op *ops) {
    for (size_t i = 0; i < move->held_count; i++) {
        if (ops[2 * i].skipped)
            continue;
        if (LIVE >> move->held[i]->envelope.state & 1u)
            move->moved->messages++;
        else
            move->moved->letters++;
    }
}

static enum status commit_batch(struct move *move) {
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct store_op *ops = arena_alloc(&arena, (2 * QUEUE_MOVE_PAGE + 1) * sizeof *ops);
    for (size_t i = 0; i < move->held_count; i++) {
        struct store_held *held = move->held[i];
        struct envelope *envelope = &held->envelope;
        envelope->queue = move->to;
        envelope->dlq = renamed_dlq(move, envelope->dlq, &held->arena);
        ops[2 * i] = (struct store_op){
            .kind = STORE_FORGET, .queue = move->from_number, .seq = held->seq, .from = MOVABLE};
        ops[2 * i + 1] = (struct store_op){.kind = STORE_PUT,
                                           .queue = move->to_number,
                                           .envelope = envelope,
                                           .body = held->body,
                                           .check_id = !(DECIDED >> envelope->state & 1u)};
    }
    move->entry->count = move->moved->messages + move->moved->letters + move->held_count;
    ops[2 * move->held_count] = audit_op(move->entry, &arena);
    enum status status = triage_commit(move->triage, ops, 2 * move->held_count + 1, move->err);
    if (status == STATUS_OK) {
        count_moved(move, ops);
        status = drop_copies(move, ops, &arena);
    }
    for (size_t i = 0; i < move->held_count; i++)
        store_held_free(move->held[i]);
    move->held_count = move->bytes = 0;
    arena_free(&arena);
    return status;
}

static enum status add(struct move *move, uint64_t seq) {
    struct store *store = move->triage->store;
    struct store_held *held;
    enum status status = store->vtable->get_seq(store, seq, &held, move->err);
    if (status == STATUS_NOT_FOUND) /* it was moved before; the list is behind */
        return STATUS_OK;
    if (status != STATUS_OK)
        return status;
    if (!bytes_eq(held->envelope.queue, move->entry->subject)) {
        store_held_free(held);
        return STATUS_OK;
    }
    move->held[move->held_count++] = held;
    move->bytes += held->body.len;
    return move->held_count == QUEUE_MOVE_PAGE || move->bytes >= BATCH_BYTES ? commit_batch(move)
                                                                             : STATUS_OK;
}

/* Oldest first, so that the order of messages with one key stays. */
static enum status move_pages(struct move *move) {
    struct store *store = move->triage->store;
    struct store_query query = {
        .queue = move->entry->subject, .oldest_first = true, .limit = QUEUE_MOVE_PAGE};
    struct arena arena;
    enum status status = STATUS_OK;
    bool more = true;
    int rounds = 0;
    arena_init_heap(&arena, CHUNK);
    while (status == STATUS_OK && more) {
        struct store_page page;
        status = store->vtable->list(store, &query, &arena, &page, move->err);
        for (size_t i = 0; status == STATUS_OK && i < page.count; i++)
            status = add(move, page.rows[i].seq);
        /* Behind the last page, what was not folded yet is asked for from the front. */
        bool last = status == STATUS_OK && !page.cursor.ptr;
        more = status == STATUS_OK && (!last || page.behind > 0) && rounds < ROUNDS_MAX;
        rounds += last;
        if (more)
            query.cursor = last ? BYTES_NONE : page.cursor;
    }
    arena_free(&arena);
    return status;
}

enum status queue_move_rename(struct triage *triage, struct audit_entry *entry, struct bytes to,
                              struct queue_moved *out, struct err *err) {
    struct store *store = triage->store;
    struct move move = {.triage = triage, .entry = entry, .to = to, .moved = out, .err = err};
    *out = (struct queue_moved){0};
    move.from_number = number_of(store, entry->subject);
    move.to_number = store->vtable->queue_number(store, to);
    enum status status = move.from_number ? move_pages(&move) : STATUS_OK;
    if (status == STATUS_OK)
        status = commit_batch(&move); /* the last ones, or the audit alone */
    for (size_t i = 0; i < move.held_count; i++)
        store_held_free(move.held[i]);
    return status;
}

/* ---- remove ---- */

enum status queue_move_remove(struct triage *triage, struct audit_entry *entry,
                              const struct queue_holding *holding, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct store_op ops[2] = {audit_op(entry, &arena)};
    size_t count = 1;
    if (holding->number != 0)
        ops[count++] = (struct store_op){
            .kind = STORE_QUEUE, .queue = holding->number, .queue_facts = BYTES("{}")};
    enum status status = triage_commit(triage, ops, count, err);
    arena_free(&arena);
    return status;
}
