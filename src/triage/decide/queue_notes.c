/* queue_notes: moves notes of SPACE_RESULT and SPACE_DONE from one queue to another, in batches. A
 * note is added to the new queue and removed from the old one in the same commit, so that a crash
 * neither loses nor duplicates it. */
#include "triage/decide/queue_notes.h"

#include <assert.h>
#include <string.h>

#include "base/json/json.h"

enum {
    CHUNK = 16 * 1024,
    KEYS_PAGE = 128,  /* small texts listed at a time */
    ANSWERS_PAGE = 8, /* answers, which may be large, listed at a time */
    OPS_MAX = 2 * KEYS_PAGE + 1,
    BATCH_BYTES = STORE_COMMIT_BYTES / 4,
    EXPIRY_STEP_MS = 1000, /* precision of an expiry; never rounded down */
};

/* Longer than any expiry: a text that has not expired by then never does. */
#define LONGEST_MS (INT64_C(1000) * 365 * 24 * 3600 * 1000)

struct keeps_move {
    struct triage *triage;
    const struct audit_entry *entry;
    uint32_t from, to;
    struct bytes name;
    const char *space;
    struct wall now;
    struct err *err;
    struct arena arena; /* of the current batch */
    struct store_op ops[OPS_MAX];
    size_t count;
    size_t bytes;
};

static enum status kept_at(struct keeps_move *move, uint32_t queue, struct bytes name,
                           struct wall at, struct arena *arena, struct bytes *value) {
    struct store *store = move->triage->store;
    return letters_note(store->letters, queue, move->space, name, at, arena, value, move->err);
}

/* Whether the text will still be kept `ms` from now. */
static enum status lasts(struct keeps_move *move, uint32_t queue, struct bytes name, int64_t ms,
                         bool *out) {
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, CHUNK);
    enum status status =
        kept_at(move, queue, name, (struct wall){move->now.ms + ms}, &arena, &value);
    arena_free(&arena);
    *out = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* The store does not tell when a text expires, only what is kept at a given time: the expiry is
 * found by bisection. */
static enum status find_expiry(struct keeps_move *move, uint32_t queue, struct bytes name,
                               struct wall *out) {
    int64_t kept_ms = 0, gone_ms = EXPIRY_STEP_MS;
    bool kept = true;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && kept && gone_ms <= LONGEST_MS) {
        status = lasts(move, queue, name, gone_ms, &kept);
        if (kept) {
            kept_ms = gone_ms;
            gone_ms *= 2;
        }
    }
    *out = WALL_NEVER;
    if (status != STATUS_OK || kept)
        return status;
    while (status == STATUS_OK && gone_ms - kept_ms > EXPIRY_STEP_MS) {
        int64_t middle_ms = kept_ms + (gone_ms - kept_ms) / 2;
        status = lasts(move, queue, name, middle_ms, &kept);
        *(kept ? &kept_ms : &gone_ms) = middle_ms;
    }
    out->ms = move->now.ms + gone_ms;
    return status;
}

static bool is_later(struct wall a, struct wall b) {
    return b.ms != WALL_NEVER.ms && (a.ms == WALL_NEVER.ms || a.ms > b.ms);
}

/* Replaces the queue's name in an answer; every other byte stays. */
static struct bytes renamed(struct keeps_move *move, struct bytes value) {
    struct json whole, queue;
    struct buf text;
    if (strcmp(move->space, SPACE_RESULT) != 0 || json_parse(value, &whole, NULL) != STATUS_OK ||
        !json_get(whole, "queue", &queue))
        return value;
    size_t before = (size_t)(queue.text.ptr - value.ptr);
    buf_init_heap(&text, SIZE_MAX);
    struct json_out json = json_out(&text);
    buf_bytes(&text, bytes_cut(value, 0, before));
    json_put(&json, move->name);
    buf_bytes(&text, bytes_cut(value, before + queue.text.len, value.len));
    struct bytes copy = arena_dup(&move->arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static enum status flush(struct keeps_move *move) {
    if (move->count == 0)
        return STATUS_OK;
    move->ops[move->count++] = audit_op(move->entry, &move->arena);
    enum status status = triage_commit(move->triage, move->ops, move->count, move->err);
    arena_free(&move->arena);
    arena_init_heap(&move->arena, CHUNK);
    move->count = move->bytes = 0;
    return status;
}

static void add(struct keeps_move *move, uint32_t queue, struct bytes name, struct bytes value,
                struct wall expires) {
    assert(move->count < OPS_MAX);
    move->ops[move->count++] = (struct store_op){
        .kind = STORE_KEEP,
        .queue = queue,
        .keep = {.space = move->space, .name = name, .value = value, .expires = expires}};
    move->bytes += value.len;
}

/* Moves one text. The list names the texts of all queues, so it may be another queue's. */
static enum status move_one(struct keeps_move *move, struct bytes listed) {
    struct bytes ours, theirs = BYTES_NONE, name = arena_dup(&move->arena, listed);
    struct wall expires, theirs_expire;
    enum status status = kept_at(move, move->from, name, move->now, &move->arena, &ours);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = find_expiry(move, move->from, name, &expires);
    if (status == STATUS_OK)
        status = kept_at(move, move->to, name, move->now, &move->arena, &theirs);
    if (status == STATUS_OK) { /* the new queue has one under this name, too */
        status = find_expiry(move, move->to, name, &theirs_expire);
        if (status != STATUS_OK || strcmp(move->space, SPACE_RESULT) == 0)
            return status;
        ours = theirs;
        expires = is_later(theirs_expire, expires) ? theirs_expire : expires;
    } else if (status != STATUS_NOT_FOUND) {
        return status;
    }
    add(move, move->to, name, renamed(move, ours), expires);
    add(move, move->from, name, BYTES_NONE, WALL_NEVER);
    return move->count + 2 >= OPS_MAX ? flush(move) : STATUS_OK;
}

static enum status move_space(struct keeps_move *move, const char *space, size_t limit) {
    struct store *store = move->triage->store;
    struct letters_note page[KEYS_PAGE];
    struct arena after_arena, page_arena;
    struct bytes after = BYTES_NONE;
    size_t count = limit;
    enum status status = STATUS_OK;
    move->space = space;
    arena_init_heap(&after_arena, CHUNK);
    while (status == STATUS_OK && count == limit) {
        arena_init_heap(&page_arena, CHUNK);
        status = letters_notes(store->letters, space, BYTES_NONE, after, false, limit, &page_arena,
                               page, &count, move->err);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            if (move->bytes + page[i].value.len > BATCH_BYTES)
                status = flush(move);
            if (status == STATUS_OK)
                status = move_one(move, page[i].name);
        }
        arena_free(&after_arena);
        arena_init_heap(&after_arena, CHUNK);
        if (status == STATUS_OK && count > 0)
            after = arena_dup(&after_arena, page[count - 1].name);
        arena_free(&page_arena);
    }
    arena_free(&after_arena);
    return status == STATUS_OK ? flush(move) : status;
}

enum status queue_notes_move(struct triage *triage, const struct audit_entry *entry, uint32_t from,
                             uint32_t to, struct bytes name, struct err *err) {
    assert(from != 0 && to != 0 && from != to);
    struct keeps_move move = {.triage = triage,
                              .entry = entry,
                              .from = from,
                              .to = to,
                              .name = name,
                              .now = triage_steady_now(triage),
                              .err = err};
    arena_init_heap(&move.arena, CHUNK);
    /* Answers first: an idempotency key refers to the answer of its message. */
    enum status status = move_space(&move, SPACE_RESULT, ANSWERS_PAGE);
    if (status == STATUS_OK)
        status = move_space(&move, SPACE_DONE, KEYS_PAGE);
    arena_free(&move.arena);
    return status;
}
