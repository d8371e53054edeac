#include "store/embedded/pages/paging.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/sqlite/fold/changes.h"
#include "store/embedded/sqlite/load_tables.h"
#include "store/embedded/sqlite/rows.h"

enum {
    LEAD_MS = 1000,  /* parked messages are loaded this long before they are due */
    AGAIN_MS = 1000, /* delay after the file could not be read */
    READY_LOW = 256, /* if fewer messages are ready in memory, more are loaded */
    LANE_MIN = 4,    /* minimum of messages in memory for each paged queue */
};

static const enum paged_queue_kind lanes_taken[][2] = {
    [TAKE_READY] = {PAGED_QUEUE_READY, PAGED_QUEUE_DELAYED},
    [TAKE_DUE] = {PAGED_QUEUE_RETRY, PAGED_QUEUE_COUNT},
    [TAKE_DUE_LONGEST] = {PAGED_QUEUE_RETRY, PAGED_QUEUE_COUNT},
    [TAKE_FAR] = {PAGED_QUEUE_READY, PAGED_QUEUE_RETRY},
    [TAKE_LEASED] = {PAGED_QUEUE_COUNT, PAGED_QUEUE_COUNT},
};

void paging_init(struct sqlite_store *self, size_t most) {
    struct paged_queue_bound *bound = &self->front.tables.bound;
    bound->most = most ? most : WAITING_MAX;
    bound->least = bound->most / WAITING_SHARE + LANE_MIN;
}

/* Reads the current row of a statement that selects DATABASE_FACTS. */
static enum status read_row(struct sqlite_store *self, sqlite3_stmt *stmt, struct arena *arena,
                            struct row_facts *out, struct err *err) {
    enum status status = rows_facts(stmt, arena, out, err);
    if (status == STATUS_OK)
        status = load_tables_check_queue(&self->front.tables, out->seq, out->queue, err);
    return status;
}

static struct paged_queue *lane_of_row(struct sqlite_store *self, const struct row_facts *row) {
    enum paged_queue_kind kind = paged_queue_of(row->envelope.state, row->envelope.next_attempt_at);
    struct queue_table *queue = tables_queue(&self->front.tables, row->queue);
    return kind == PAGED_QUEUE_COUNT ? NULL : &queue->waiting.lanes[kind];
}

void paging_note_back(struct sqlite_store *self, const struct row_facts *row) {
    struct paged_queue *lane = lane_of_row(self, row);
    if (lane && row->envelope.lease_ms == 0)
        paged_queue_count_down(lane);
}

/* ---- start ---- */

enum status paging_restore(struct sqlite_store *self, sqlite3_stmt *stmt, struct instant now,
                           struct err *err) {
    enum status status = STATUS_OK;
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct arena arena;
        struct row_facts row;
        arena_init_heap(&arena, 1024);
        enum status one = read_row(self, stmt, &arena, &row, err);
        if (one == STATUS_OK && !tables_find(&self->front.tables, row.seq))
            changes_restore(self, &row, &now);
        arena_free(&arena);
        if (one != STATUS_OK) {
            sqlite3_reset(stmt);
            return one;
        }
    }
    return status;
}

struct waiting_count {
    uint32_t queue;
    enum state state;
    uint64_t counts[2]; /* index 0: without a due time, 1: with one */
};

static enum status count_waiting(struct sqlite_store *self, struct waiting_count **counts,
                                 size_t *count, uint64_t *total, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_WAITING_COUNTS);
    while (database_next(self->fold_db, stmt, &status, err)) {
        *counts = memory_grow(*counts, (*count + 1) * sizeof **counts);
        struct waiting_count *one = &(*counts)[*count];
        struct bounds row = {.stmt = stmt, .table = "messages", .err = err};
        *one = (struct waiting_count){.queue = (uint32_t)bounds_int(&row, 0, 1, BOUNDS_QUEUES_MAX),
                                      .counts = {bounds_count(&row, 2), bounds_count(&row, 3)}};
        status = row.status;
        if (status == STATUS_OK)
            status = load_tables_check_queue(&self->front.tables, 0, one->queue, err);
        if (status != STATUS_OK) {
            sqlite3_reset(stmt);
            return status;
        }
        *count += state_parse(database_text(stmt, 1), &one->state);
        *total += one->counts[0] + one->counts[1];
    }
    return status;
}

/* Messages that were leased at the last crash or shutdown are taken once after the start, so they
 * must be in memory. */
static enum status load_leased(struct sqlite_store *self, struct instant now, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_LEASED);
    while (status == STATUS_OK && database_next(self->fold_db, stmt, &status, err)) {
        struct arena arena;
        struct row_facts row;
        arena_init_heap(&arena, 1024);
        status = read_row(self, stmt, &arena, &row, err);
        bool leased = status == STATUS_OK && row.envelope.lease_ms > 0;
        if (leased && !tables_find(&self->front.tables, row.seq)) {
            struct paged_queue *lane = lane_of_row(self, &row);
            if (lane)
                paged_queue_count_down(lane);
            changes_restore(self, &row, &now);
        }
        arena_free(&arena);
    }
    sqlite3_reset(stmt);
    return status;
}

/* Messages that wait for room in a DLQ are never parked, because they have no due time. */
static enum status load_awaiting_room(struct sqlite_store *self, uint32_t queue, struct instant now,
                                      struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_AWAITING_ROOM);
    sqlite3_bind_int64(stmt, 1, queue);
    while (status == STATUS_OK && database_next(self->fold_db, stmt, &status, err)) {
        struct arena arena;
        struct row_facts row;
        arena_init_heap(&arena, 1024);
        status = rows_facts(stmt, &arena, &row, err);
        if (status == STATUS_OK && !tables_find(&self->front.tables, row.seq)) {
            paging_note_back(self, &row);
            changes_restore(self, &row, &now);
        }
        arena_free(&arena);
    }
    sqlite3_reset(stmt);
    return status;
}

static void park_lanes(struct ready_queues *waiting, const struct waiting_count *one) {
    for (int has_due = 0; has_due < 2; has_due++) {
        struct paged_queue *lane =
            &waiting->lanes[paged_queue_of(one->state, (struct wall){has_due})];
        if (one->counts[has_due] > 0)
            paged_queue_open(lane, lane->count + one->counts[has_due]);
    }
}

static enum status load_replaying(struct sqlite_store *self, uint32_t queue, struct instant now,
                                  struct err *err) {
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_REPLAYING);
    sqlite3_bind_int64(stmt, 1, queue);
    return paging_restore(self, stmt, now, err);
}

static enum status park_all(struct sqlite_store *self, const struct waiting_count *counts,
                            size_t count, struct instant now, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        if (counts[i].state == STATE_REPLAYING)
            status = load_replaying(self, counts[i].queue, now, err);
        else
            park_lanes(&tables_queue(&self->front.tables, counts[i].queue)->waiting, &counts[i]);
        if (status == STATUS_OK && counts[i].state == STATE_PENDING_RETRY && counts[i].counts[0])
            status = load_awaiting_room(self, counts[i].queue, now, err);
    }
    return status == STATUS_OK ? load_leased(self, now, err) : status;
}

enum status paging_load(struct sqlite_store *self, struct instant now, struct err *err) {
    struct waiting_count *counts = NULL;
    size_t count = 0;
    uint64_t total = 0;
    enum status status = count_waiting(self, &counts, &count, &total, err);
    if (status == STATUS_OK && total <= self->front.tables.bound.most)
        status = paging_restore(self, database_statement(self->fold_db, SQL_WAITING), now, err);
    else if (status == STATUS_OK)
        status = park_all(self, counts, count, now, err);
    free(counts);
    return status;
}

/* ---- loading parked messages ---- */

/* A range of a paged queue that is being loaded. */
struct page_part {
    struct arena arena;
    struct row_facts *rows;
    size_t count, max;
};

/* Called without the mutex. */
static enum status read_part(struct sqlite_store *self, uint32_t queue,
                             struct paged_queue_mark from, enum paged_queue_kind kind,
                             struct page_part *part, struct err *err) {
    static const enum database_sql sql[PAGED_QUEUE_COUNT] = {
        [PAGED_QUEUE_READY] = SQL_PAGED_QUEUE_READY,
        [PAGED_QUEUE_DELAYED] = SQL_PAGED_QUEUE_DELAYED,
        [PAGED_QUEUE_RETRY] = SQL_PAGED_QUEUE_RETRY,
    };
    if (kind == PAGED_QUEUE_DELAYED && from.due_ms == 0)
        from.due_ms = 1; /* messages without a due time are in another paged queue */
    enum status status = STATUS_OK;
    database_lock(self->lookup_db);
    sqlite3_stmt *stmt = database_statement(self->lookup_db, sql[kind]);
    sqlite3_bind_int64(stmt, 1, queue);
    sqlite3_bind_int64(stmt, 2, from.due_ms);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)from.seq);
    sqlite3_bind_int64(stmt, 4, (sqlite3_int64)part->max);
    while (status == STATUS_OK && database_next(self->lookup_db, stmt, &status, err))
        status = rows_facts(stmt, &part->arena, &part->rows[part->count++], err);
    sqlite3_reset(stmt);
    database_unlock(self->lookup_db);
    return status;
}

/* Called with the mutex, which is released for the read. Meanwhile parked entries may leave memory,
 * or more may be parked before the horizon: then the range is read again. */
static enum status fetch_part(struct sqlite_store *self, const struct queue_table *queue,
                              enum paged_queue_kind kind, struct page_part *part, struct err *err) {
    const struct paged_queue *lane = &queue->waiting.lanes[kind];
    struct paged_queue_mark from;
    uint64_t settles;
    enum status status;
    do {
        part->count = 0;
        from = lane->from;
        settles = self->settles;
        pthread_mutex_unlock(&self->front.mutex);
        status = read_part(self, queue->number, from, kind, part, err);
        pthread_mutex_lock(&self->front.mutex);
    } while (status == STATUS_OK && (settles != self->settles || from.due_ms != lane->from.due_ms ||
                                     from.seq != lane->from.seq));
    for (size_t i = 0; status == STATUS_OK && i < part->count; i++)
        status = load_tables_check_queue(&self->front.tables, part->rows[i].seq,
                                         part->rows[i].queue, err);
    return status;
}

/* Moves the horizon behind the loaded range, or removes it if nothing is parked behind the range.
 */
static void move_horizon(struct paged_queue *lane, const struct page_part *part,
                         struct instant now) {
    lane->open = part->count == part->max;
    lane->next = MONO_NEVER;
    if (!lane->open)
        return;
    const struct row_facts *next = &part->rows[part->count - 1];
    lane->from = (struct paged_queue_mark){next->envelope.next_attempt_at.ms, next->seq};
    lane->next = ready_queues_due(next->envelope.next_attempt_at, next->envelope.delay_ms, now);
}

static void unpark(struct queue_table *queue, enum paged_queue_kind kind, struct entry *entry,
                   struct instant now) {
    paged_queue_unpark(&queue->waiting.lanes[kind], entry);
    ready_queues_add(&queue->waiting, entry, &now);
}

/* If the message is in memory, its row may be older than its entry. */
static void bring_row(struct sqlite_store *self, struct queue_table *queue,
                      enum paged_queue_kind kind, const struct row_facts *row, struct instant now) {
    struct entry *entry = tables_find(&self->front.tables, row->seq);
    if (entry && entry->parked && paged_queue_of_entry(entry) == kind) {
        if (!paged_queue_parks(&queue->waiting.lanes[kind], entry))
            unpark(queue, kind, entry, now);
    } else if (!entry) {
        paging_note_back(self, row);
        changes_restore(self, row, &now);
    }
}

/* Parked entries in memory that were not folded yet. */
static void bring_here(struct queue_table *queue, enum paged_queue_kind kind, struct instant now) {
    struct paged_queue *lane = &queue->waiting.lanes[kind];
    struct list waiting, *node;
    list_init(&waiting);
    while ((node = list_pop_front(&lane->here)) != NULL)
        list_push_back(&waiting, node);
    while ((node = list_pop_front(&waiting)) != NULL) {
        struct entry *entry = CONTAINER_OF(node, struct entry, link);
        list_push_back(&lane->here, node);
        if (!paged_queue_parks(lane, entry))
            unpark(queue, kind, entry, now);
    }
}

static enum status bring_part(struct sqlite_store *self, struct queue_table *queue,
                              enum paged_queue_kind kind, struct instant now, struct err *err) {
    size_t rows = self->front.tables.bound.least / 2 + 1;
    struct page_part part = {.max = rows + 1};
    arena_init_heap(&part.arena, 1 << 16);
    part.rows = memory_array(part.max, sizeof *part.rows);
    enum status status = fetch_part(self, queue, kind, &part, err);
    if (status == STATUS_OK) {
        move_horizon(&queue->waiting.lanes[kind], &part, now);
        for (size_t i = 0; i < part.count && i < rows; i++)
            bring_row(self, queue, kind, &part.rows[i], now);
        bring_here(queue, kind, now);
        /* The count came from an index of the file, which may be wrong. */
        if (!queue->waiting.lanes[kind].open)
            queue->waiting.lanes[kind].count = 0;
    }
    free(part.rows);
    arena_free(&part.arena);
    return status;
}

static bool is_wanted(const struct ready_queues *waiting, enum paged_queue_kind kind,
                      struct instant now) {
    const struct paged_queue *lane = &waiting->lanes[kind];
    if (lane->count == 0 || (kind == PAGED_QUEUE_READY && waiting->ready_count >= READY_LOW))
        return false;
    return lane->next.ms <= mono_after(now.mono, LEAD_MS).ms;
}

static void bring(struct sqlite_store *self, struct queue_table *queue, enum paged_queue_kind kind,
                  struct instant now) {
    struct err err;
    if (bring_part(self, queue, kind, now, &err) == STATUS_OK)
        return;
    log_error("messages that wait cannot be read: %s", err.text);
    queue->waiting.lanes[kind].next = mono_after(now.mono, LEAD_MS + AGAIN_MS);
}

void paging_bring(struct sqlite_store *self, struct queue_table *queue, enum store_take which,
                  struct instant now) {
    for (int i = 0; i < 2; i++) {
        enum paged_queue_kind kind = lanes_taken[which][i];
        if (kind != PAGED_QUEUE_COUNT && is_wanted(&queue->waiting, kind, now))
            bring(self, queue, kind, now);
    }
    paging_drop(self);
}

struct entry *paging_take_one(struct sqlite_store *self, uint32_t queue, uint64_t seq, bool any) {
    struct entry *found = NULL;
    struct err err;
    if (changes_fetch(self, seq, &found, &err) != STATUS_OK)
        log_error("message %llu cannot be read: %s", (unsigned long long)seq, err.text);
    struct tables *tables = &self->front.tables;
    struct entry *entry =
        any ? tables_take_any(tables, queue, seq) : tables_take_one(tables, queue, seq);
    if (!entry && found)
        changes_release(self, found);
    return entry;
}

/* ---- dropping parked entries ---- */

static void drop_lane(struct sqlite_store *self, struct paged_queue *lane) {
    for (struct list *node = lane->here.next, *next; node != &lane->here; node = next) {
        next = node->next;
        changes_release(self, CONTAINER_OF(node, struct entry, link));
    }
}

void paging_drop(struct sqlite_store *self) {
    struct tables *tables = &self->front.tables;
    if (!tables->bound.shed)
        return;
    tables->bound.shed = false;
    for (size_t i = 0; i < tables->queue_count; i++) {
        for (int kind = 0; kind < PAGED_QUEUE_COUNT; kind++)
            drop_lane(self, &tables->queues[i]->waiting.lanes[kind]);
    }
}

void paging_set_order(struct store *store, uint32_t number, enum store_order order) {
    struct sqlite_store *self = store_internal_of(store);
    pthread_mutex_lock(&self->front.mutex);
    struct queue_table *queue = tables_queue(&self->front.tables, number);
    struct instant now = clock_now(self->options.clock);
    struct err err;
    enum status status = STATUS_OK;
    if (order != ORDER_NONE)
        ready_queues_unbind(&queue->waiting);
    for (int kind = 0; order != ORDER_NONE && kind < PAGED_QUEUE_COUNT; kind++) {
        while (status == STATUS_OK && queue->waiting.lanes[kind].open)
            status = bring_part(self, queue, (enum paged_queue_kind)kind, now, &err);
    }
    if (status != STATUS_OK)
        log_error("messages that wait cannot be read: %s", err.text);
    tables_set_order(&self->front.tables, queue, order);
    pthread_mutex_unlock(&self->front.mutex);
}
