/* queue_move: see the header for what a crash leaves behind. */
#include "triage/decide/queue_move.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "triage/decide/queue_notes.h"

enum {
    CHUNK = 16 * 1024,
    NUMBER_SIZE = 24,
    ROUNDS_MAX = 16, /* passes over the list while it lags behind the commits; each may wait 2 s */
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
    struct letters_query query = {.queue = queue,
                                  .states = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING};
    struct store_queue_counts counts;
    struct letters_sum sum;
    *out = (struct queue_holding){.number = number_of(store, queue)};
    if (out->number == 0)
        return STATUS_OK;
    enum status status = letters_sum(store->letters, &query, &sum, err);
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

/* One message or letter of a batch. */
struct queue_move {
    struct message *held;
    bool letter;  /* pending_review: put first, forgotten in a later commit */
    bool free_id; /* in the new queue only a decided letter has its id */
    bool copied;  /* the new queue has this very letter: a rename crashed between the two commits */
    bool left;    /* it stays in the old queue */
    uint64_t copy; /* its sequence number in the new queue; 0: not there */
};

struct move {
    struct triage *triage;
    struct audit_entry *entry;
    struct bytes to;
    uint32_t from_number, to_number;
    struct queue_moved *moved;
    struct arena *arena; /* the caller's, for the ids of those that stay */
    struct err *err;
    struct queue_move batch[QUEUE_MOVE_PAGE];
    size_t count;
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

static void name_left(struct move *move, struct queue_left *left, struct bytes id) {
    if (left->count < QUEUE_LEFT_NAMED_MAX)
        left->ids[left->count] = arena_dup(move->arena, id);
    left->count++;
}

static void leave(struct move *move, struct queue_move *one, struct queue_left *left) {
    assert(!one->left);
    one->left = true;
    name_left(move, left, one->held->envelope.id);
}

/* ---- ids that are taken in the new queue ---- */

static enum status compare(struct move *move, struct queue_move *one) {
    struct store *store = move->triage->store;
    struct message *theirs = NULL;
    const struct envelope *envelope = &one->held->envelope;
    enum status status = letters_get(store->letters, move->to, envelope->id, &theirs, move->err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK && status != STATUS_CONFLICT && status != STATUS_CORRUPT &&
        status != STATUS_IO)
        return status;
    one->free_id = theirs && (DECIDED >> theirs->envelope.state & 1u);
    one->copied = theirs && one->letter && theirs->envelope.letter_id.len > 0 &&
                  bytes_eq(theirs->envelope.letter_id, envelope->letter_id);
    if (one->copied)
        one->copy = theirs->seq;
    else if (!one->free_id)
        leave(move, one, &move->moved->same_id);
    message_free(theirs);
    return STATUS_OK;
}

/* Whether an earlier, decided letter of the batch has the id. */
static bool is_freed(const struct move *move, size_t place) {
    for (size_t i = 0; i < place; i++)
        if ((DECIDED >> move->batch[i].held->envelope.state & 1u) &&
            bytes_eq(move->batch[i].held->envelope.id, move->batch[place].held->envelope.id))
            return true;
    return false;
}

static enum status find_taken_ids(struct move *move) {
    struct store *store = move->triage->store;
    struct bytes ids[QUEUE_MOVE_PAGE];
    bool holds[QUEUE_MOVE_PAGE] = {false};
    for (size_t i = 0; i < move->count; i++)
        ids[i] = move->batch[i].held->envelope.id;
    if (move->count == 0)
        return STATUS_OK;
    enum status status =
        letters_holds(store->letters, move->to_number, ids, move->count, holds, move->err);
    for (size_t i = 0; i < move->count && status == STATUS_OK; i++) {
        struct queue_move *one = &move->batch[i];
        if (holds[i] && !(DECIDED >> one->held->envelope.state & 1u))
            status = compare(move, one);
        else
            one->free_id = is_freed(move, i);
    }
    return status;
}

/* ---- the commits of a batch ---- */

static struct store_op forget_op(const struct move *move, const struct queue_move *one) {
    return (struct store_op){
        .kind = STORE_FORGET, .queue = move->from_number, .seq = one->held->seq, .from = MOVABLE};
}

static struct store_op put_op(const struct move *move, const struct queue_move *one) {
    struct message *held = one->held;
    struct envelope *envelope = &held->envelope;
    envelope->queue = move->to;
    envelope->dlq = renamed_dlq(move, envelope->dlq, &held->arena);
    envelope->lease_ms = 0; /* the queue is no longer configured, so its leases are over */
    return (struct store_op){.kind = STORE_PUT,
                             .queue = move->to_number,
                             .envelope = envelope,
                             .body = held->body,
                             .check_id = !one->free_id && !(DECIDED >> envelope->state & 1u)};
}

static void count_moved(struct move *move, const struct queue_move *one) {
    if (LIVE >> one->held->envelope.state & 1u)
        move->moved->messages++;
    else
        move->moved->letters++;
}

/* Removes the copies of messages that stay, because the original was taken or replayed meanwhile.
 */
static enum status drop_copies(struct move *move, struct store_op *ops) {
    size_t count = 0;
    for (size_t i = 0; i < move->count; i++)
        if (move->batch[i].left && move->batch[i].copy != 0)
            ops[count++] = (struct store_op){.kind = STORE_FORGET,
                                             .queue = move->to_number,
                                             .seq = move->batch[i].copy,
                                             .from = MOVABLE};
    return count ? triage_commit(move->triage, ops, count, move->err) : STATUS_OK;
}

/* First commit: puts everything into the new queue, and forgets messages and decided letters in the
 * old one. If a producer pushes one of the ids at the same time, an equal message counts as the
 * same message; a letter stays, since it would lose its history. */
static enum status commit_puts(struct move *move, struct store_op *ops) {
    struct store_op *put[QUEUE_MOVE_PAGE], *forget[QUEUE_MOVE_PAGE];
    size_t count = 0;
    for (size_t i = 0; i < move->count; i++) {
        struct queue_move *one = &move->batch[i];
        put[i] = forget[i] = NULL;
        if (one->left || one->copied)
            continue;
        if (!one->letter)
            *(forget[i] = &ops[count++]) = forget_op(move, one);
        *(put[i] = &ops[count++]) = put_op(move, one);
    }
    enum status status = count ? triage_commit(move->triage, ops, count, move->err) : STATUS_OK;
    for (size_t i = 0; i < move->count && status == STATUS_OK; i++) {
        struct queue_move *one = &move->batch[i];
        if (put[i] && !put[i]->duplicate)
            one->copy = put[i]->seq;
        if (put[i] && put[i]->duplicate && one->letter)
            leave(move, one, &move->moved->same_id);
        else if (forget[i] && forget[i]->skipped)
            leave(move, one, &move->moved->busy);
        else if (forget[i])
            count_moved(move, one);
    }
    return status;
}

/* Second commit: forgets the letters whose copies are durable. */
static enum status commit_forgets(struct move *move, struct store_op *ops) {
    struct store_op *forget[QUEUE_MOVE_PAGE];
    size_t count = 0;
    for (size_t i = 0; i < move->count; i++) {
        struct queue_move *one = &move->batch[i];
        forget[i] = one->letter && !one->left ? &ops[count++] : NULL;
        if (forget[i])
            *forget[i] = forget_op(move, one);
    }
    struct queue_moved *moved = move->moved;
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    move->entry->count = moved->messages + moved->letters + count;
    ops[count] = audit_op(move->entry, &arena);
    enum status status = triage_commit(move->triage, ops, count + 1, move->err);
    arena_free(&arena);
    for (size_t i = 0; i < move->count && status == STATUS_OK; i++) {
        if (forget[i] && forget[i]->skipped)
            leave(move, &move->batch[i], &moved->busy);
        else if (forget[i])
            count_moved(move, &move->batch[i]);
    }
    return status;
}

static void free_batch(struct move *move) {
    for (size_t i = 0; i < move->count; i++)
        message_free(move->batch[i].held);
    move->count = move->bytes = 0;
}

/* A crash between the commits leaves letters in both queues; the next rename recognises them
 * (`copied`). */
static enum status commit_batch(struct move *move) {
    assert(move->from_number != 0 && move->count <= QUEUE_MOVE_PAGE);
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct store_op *ops = arena_alloc(&arena, (2 * QUEUE_MOVE_PAGE + 1) * sizeof *ops);
    enum status status = find_taken_ids(move);
    if (status == STATUS_OK)
        status = commit_puts(move, ops);
    if (status == STATUS_OK)
        status = commit_forgets(move, ops);
    if (status == STATUS_OK)
        status = drop_copies(move, ops);
    free_batch(move);
    arena_free(&arena);
    return status;
}

/* ---- filling batches ---- */

static void leave_damaged(struct move *move, const struct letters_row *row) {
    char number[NUMBER_SIZE];
    struct envelope envelope;
    struct arena arena;
    struct bytes id = row->id;
    arena_init_heap(&arena, CHUNK);
    if (row->envelope.ptr && envelope_restore(row->envelope, &arena, &envelope, NULL) == STATUS_OK)
        id = envelope.letter_id.len > 0 ? envelope.letter_id : envelope.id;
    snprintf(number, sizeof number, "%" PRIu64, row->seq);
    name_left(move, &move->moved->damaged, id.len > 0 ? id : bytes_of(number));
    arena_free(&arena);
}

static enum status add(struct move *move, const struct letters_row *row) {
    assert(move->count < QUEUE_MOVE_PAGE);
    struct store *store = move->triage->store;
    struct message *held;
    enum status status = letters_get_seq(store->letters, row->seq, &held, move->err);
    if (status == STATUS_NOT_FOUND) /* moved already; the list lags behind */
        return STATUS_OK;
    if (status == STATUS_CORRUPT || status == STATUS_IO) {
        leave_damaged(move, row);
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return status;
    if (!bytes_eq(held->envelope.queue, move->entry->subject)) {
        message_free(held);
        return STATUS_OK;
    }
    if (!(MOVABLE >> held->envelope.state & 1u)) {
        name_left(move, &move->moved->busy, held->envelope.id);
        message_free(held);
        return STATUS_OK;
    }
    move->batch[move->count++] =
        (struct queue_move){.held = held, .letter = held->envelope.state == STATE_PENDING_REVIEW};
    move->bytes += held->body.len;
    return move->count == QUEUE_MOVE_PAGE || move->bytes >= BATCH_BYTES ? commit_batch(move)
                                                                        : STATUS_OK;
}

/* A new pass from the front meets those that stay again, so they are counted anew. */
static void begin_round(struct move *move) {
    move->moved->same_id.count = move->moved->damaged.count = move->moved->busy.count = 0;
}

/* Oldest first, to keep the order of messages with one key. */
static enum status move_pages(struct move *move) {
    struct store *store = move->triage->store;
    struct letters_query query = {
        .queue = move->entry->subject, .oldest_first = true, .limit = QUEUE_MOVE_PAGE};
    struct arena arena;
    enum status status = STATUS_OK;
    bool more = true;
    int rounds = 0;
    arena_init_heap(&arena, CHUNK);
    while (status == STATUS_OK && more) {
        struct letters_page page;
        if (!query.cursor.ptr)
            begin_round(move);
        status = letters_list(store->letters, &query, &arena, &page, move->err);
        for (size_t i = 0; status == STATUS_OK && i < page.count; i++)
            status = add(move, &page.rows[i]);
        /* After the last page: if the list lags behind the commits, start again from the front. */
        bool last = status == STATUS_OK && !page.cursor.ptr;
        if (last)
            status = commit_batch(move);
        more = status == STATUS_OK && (!last || page.unlisted > 0) && rounds < ROUNDS_MAX;
        rounds += last;
        if (more)
            query.cursor = last ? BYTES_NONE : page.cursor;
    }
    arena_free(&arena);
    return status;
}

/* Corrects the count of the audit entry, which was written before it was known which messages stay.
 */
static enum status finish_audit(struct move *move) {
    struct arena arena;
    uint64_t count = move->moved->messages + move->moved->letters;
    if (move->from_number != 0 && move->entry->count == count)
        return STATUS_OK;
    arena_init_heap(&arena, CHUNK);
    move->entry->count = count;
    struct store_op op = audit_op(move->entry, &arena);
    enum status status = triage_commit(move->triage, &op, 1, move->err);
    arena_free(&arena);
    return status;
}

enum status queue_move_rename(struct triage *triage, struct audit_entry *entry, struct bytes to,
                              struct arena *arena, struct queue_moved *out, struct err *err) {
    struct store *store = triage->store;
    struct move move = {
        .triage = triage, .entry = entry, .to = to, .moved = out, .arena = arena, .err = err};
    *out = (struct queue_moved){0};
    move.from_number = number_of(store, entry->subject);
    move.to_number = store->vtable->queue_number(store, to);
    /* Idempotency keys first: a moved message must not be processed again in the new queue. */
    enum status status = STATUS_OK;
    if (move.from_number)
        status = queue_notes_move(triage, entry, move.from_number, move.to_number, to, err);
    if (status == STATUS_OK && move.from_number)
        status = move_pages(&move);
    if (status == STATUS_OK)
        status = finish_audit(&move);
    free_batch(&move);
    return status;
}

/* ---- remove ---- */

enum status queue_move_remove(struct triage *triage, struct audit_entry *entry,
                              const struct queue_holding *holding, struct err *err) {
    assert(holding->waiting + holding->letters + holding->replaying == 0);
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
