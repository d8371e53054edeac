/* retention_sweep: one pass over a DLQ: list the candidates, archive a page of them, then remove it
 * from the store. The archive is durable before the commit, which removes only letters that are
 * still in the state in which they were judged. */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/lifecycle.h"
#include "triage/archive/archiving.h"
#include "triage/query/audit.h"
#include "triage/decide/retention.h"

enum { PAGE = ARCHIVING_LETTERS_MAX, PAGE_ARENA_CHUNK = 64 * 1024 };

static const struct {
    enum state state;
    const char *what; /* in the audit log */
    const char *why;
} kinds[RETENTION_COUNT] = {
    [RETENTION_UNRESOLVED] = {STATE_PENDING_REVIEW, "retention.expire", "retention.unresolved"},
    [RETENTION_RESOLVED] = {STATE_RESOLVED, "retention.delete", "retention.resolved"},
    [RETENTION_DISCARDED] = {STATE_DISCARDED, "retention.delete", "retention.discarded"},
};

struct retention_sweep {
    struct triage *triage;
    struct bytes base_dir;
    const struct retention_rule *rule;
    enum retention_of kind;
    struct wall now, limit; /* letters decided or dead before the limit are due */
    struct message *due[PAGE];
    size_t count;
    struct manifest manifest;  /* of this page's archive; letters 0: none */
    uint64_t unreadable;       /* unreadable letters, which stay */
    struct err unreadable_why; /* of the first of them */
    const atomic_bool *ending;
    struct err *err;
};

/* ---- due letters ---- */

static bool is_due(const struct retention_sweep *sweep, const struct envelope *envelope) {
    struct wall since = envelope->dead_at;
    if (sweep->kind != RETENTION_UNRESOLVED && envelope->resolved_at.ms != WALL_NEVER.ms)
        since = envelope->resolved_at;
    return envelope->state == kinds[sweep->kind].state && since.ms < sweep->limit.ms &&
           !envelope->read_only;
}

/* A damaged letter does not prevent the others from being deleted. */
static bool is_unreadable(enum status status) {
    return status == STATUS_CORRUPT || status == STATUS_IO;
}

/* Collects due letters from *row on, as many as may be in memory. Each is read again, since lists
 * may lag. */
static enum status collect(struct retention_sweep *sweep, const struct letters_page *page,
                           size_t *row) {
    struct store *store = sweep->triage->store;
    uint64_t bytes = 0;
    sweep->count = 0;
    while (*row < page->count && bytes < ARCHIVING_BYTES_MAX) {
        struct message *held = NULL;
        uint64_t seq = page->rows[(*row)++].seq;
        enum status status = letters_get_seq(store->letters, seq, &held, sweep->err);
        if (status == STATUS_OK && is_due(sweep, &held->envelope)) {
            sweep->due[sweep->count++] = held;
            bytes += held->body.len;
            continue;
        }
        message_free(held);
        if (is_unreadable(status) && sweep->unreadable++ == 0)
            sweep->unreadable_why = *sweep->err;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND && !is_unreadable(status))
            return status;
    }
    return STATUS_OK;
}

/* ---- archiving ---- */

/* The archive has the letter in the state that it is about to get. */
static void expire(struct retention_sweep *sweep, struct envelope *envelope) {
    assert(sweep->kind == RETENTION_UNRESOLVED && sweep->rule->archive.len > 0);
    lifecycle_resolve(envelope, RESOLUTION_EXPIRED, sweep->now);
    envelope->why = bytes_of(kinds[sweep->kind].why);
}

static enum status archive_page(struct retention_sweep *sweep, struct arena *arena) {
    const struct retention_rule *rule = sweep->rule;
    struct archiving_place place = {sweep->base_dir, rule->archive, rule->dlq};
    sweep->manifest = (struct manifest){.letters = 0};
    if (rule->archive.len == 0)
        return STATUS_OK;
    for (size_t i = 0; i < sweep->count && sweep->kind == RETENTION_UNRESOLVED; i++)
        expire(sweep, &sweep->due[i]->envelope);
    return archiving_write(sweep->triage, &place, sweep->due, sweep->count, arena, &sweep->manifest,
                           sweep->err);
}

/* ---- deleting ---- */

static struct store_op remove_op(const struct retention_sweep *sweep, const struct message *held) {
    struct store *store = sweep->triage->store;
    struct store_op op = {
        .kind = sweep->kind == RETENTION_UNRESOLVED ? STORE_MARK : STORE_FORGET,
        .queue = store->vtable->queue_number(store, held->envelope.queue),
        .seq = held->seq,
        .from = 1u << kinds[sweep->kind].state,
    };
    if (op.kind == STORE_MARK)
        op.mark = (struct store_mark){.state = STATE_RESOLVED,
                                      .resolution = RESOLUTION_EXPIRED,
                                      .at = sweep->now,
                                      .why = bytes_of(kinds[sweep->kind].why)};
    return op;
}

static enum status remove_page(struct retention_sweep *sweep, struct arena *arena, uint64_t *gone) {
    assert(sweep->count > 0 && sweep->count <= PAGE);
    struct store_op *ops = memory_array(sweep->count + 1, sizeof *ops);
    struct audit_entry entry = {.who = BYTES("retention"),
                                .what = kinds[sweep->kind].what,
                                .why = bytes_of(kinds[sweep->kind].why),
                                .subject = sweep->rule->dlq,
                                .count = sweep->count,
                                .after = archiving_after(&sweep->manifest, arena)};
    audit_begin(sweep->triage, &entry);
    for (size_t i = 0; i < sweep->count; i++)
        ops[i] = remove_op(sweep, sweep->due[i]);
    ops[sweep->count] = audit_op(&entry, arena);
    enum status status = triage_commit(sweep->triage, ops, sweep->count + 1, sweep->err);
    for (size_t i = 0; i < sweep->count && status == STATUS_OK; i++)
        *gone += !ops[i].skipped;
    if (status == STATUS_OK)
        status = archiving_drop_originals(sweep->triage, sweep->due, ops, sweep->count, sweep->err);
    free(ops);
    return status;
}

/* ---- the loops ---- */

static enum status sweep_batch(struct retention_sweep *sweep, const struct letters_page *page,
                               size_t *row, struct arena *arena, uint64_t *gone) {
    enum status status = collect(sweep, page, row);
    if (status == STATUS_OK && sweep->count > 0)
        status = archive_page(sweep, arena);
    if (status == STATUS_OK && sweep->count > 0)
        status = remove_page(sweep, arena, gone);
    for (size_t i = 0; i < sweep->count; i++)
        message_free(sweep->due[i]);
    return status;
}

static bool is_ending(const struct retention_sweep *sweep) {
    return sweep->ending && *sweep->ending;
}

static enum status sweep_page(struct retention_sweep *sweep, const struct letters_page *page,
                              struct arena *arena, uint64_t *gone) {
    enum status status = STATUS_OK;
    for (size_t row = 0; row < page->count && status == STATUS_OK && !is_ending(sweep);)
        status = sweep_batch(sweep, page, &row, arena, gone);
    return status;
}

/* Letters are decided after they died, so that letters which died after the limit need not be
 * listed. */
static enum status sweep_kind(struct retention_sweep *sweep, uint64_t *gone) {
    struct store *store = sweep->triage->store;
    struct letters_query query = {.dlq = sweep->rule->dlq,
                                  .states = 1u << kinds[sweep->kind].state,
                                  .until = sweep->limit,
                                  .letters = true,
                                  .limit = PAGE};
    char *cursor = NULL;
    enum status status;
    do {
        struct arena arena;
        struct letters_page page;
        arena_init_heap(&arena, PAGE_ARENA_CHUNK);
        status = letters_list(store->letters, &query, &arena, &page, sweep->err);
        free(cursor);
        cursor = status == STATUS_OK && page.cursor.ptr ? bytes_dup(page.cursor) : NULL;
        query.cursor = bytes_of(cursor);
        if (status == STATUS_OK)
            status = sweep_page(sweep, &page, &arena, gone);
        arena_free(&arena);
    } while (status == STATUS_OK && cursor && !is_ending(sweep));
    free(cursor);
    return status;
}

enum status retention_sweep(struct triage *triage, struct bytes base_dir,
                            const struct retention_rule *rule, const atomic_bool *ending,
                            uint64_t *gone, struct err *err) {
    struct retention_sweep *sweep = memory_new(sizeof *sweep);
    enum status status = STATUS_OK;
    *sweep = (struct retention_sweep){
        .triage = triage, .base_dir = base_dir, .rule = rule, .ending = ending, .err = err};
    sweep->now = triage_now(triage).wall;
    for (size_t kind = 0; kind < RETENTION_COUNT && status == STATUS_OK; kind++) {
        bool archived = kind != RETENTION_UNRESOLVED || rule->archive.len > 0;
        int64_t limit_ms = triage_steady_now(triage).ms - rule->keep_ms[kind];
        if (rule->keep_ms[kind] == RETENTION_NEVER || limit_ms <= 0 || !archived)
            continue;
        sweep->kind = (enum retention_of)kind;
        sweep->limit = (struct wall){limit_ms};
        status = sweep_kind(sweep, gone);
    }
    if (sweep->unreadable > 0)
        log_error("retention of %.*s: %llu letters cannot be read and are kept; the first: %s",
                  BYTES_ARG(rule->dlq), (unsigned long long)sweep->unreadable,
                  sweep->unreadable_why.text);
    free(sweep);
    return status;
}
