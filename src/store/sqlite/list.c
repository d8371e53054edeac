#include "store/sqlite/list.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/mark.h"
#include "store/page.h"
#include "store/sqlite/fold.h"
#include "store/sqlite/list_sql.h"

/* ---- what is taken just now ---- */

static void put_seqs(const struct list *entries, struct buf *text) {
    LIST_EACH(node, entries) {
        const struct entry *entry = CONTAINER_OF(node, struct entry, link);
        buf_printf(text, "%s%" PRIu64, text->len > 1 ? "," : "", entry->seq);
    }
}

/* As a JSON array of numbers, which SQL can read. With the mutex. */
static struct bytes taken_seqs(struct sqlite_store *self, struct arena *arena) {
    size_t count = 0;
    for (size_t i = 0; i < self->front.tables.queue_count; i++)
        count += self->front.tables.queues[i]->waiting.taken_count +
                 self->front.tables.queues[i]->waiting.leased_count;
    size_t size = count * (sizeof "18446744073709551615,") + sizeof "[]";
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, size), size);
    buf_char(&text, '[');
    for (size_t i = 0; i < self->front.tables.queue_count; i++) {
        put_seqs(&self->front.tables.queues[i]->waiting.taken, &text);
        put_seqs(&self->front.tables.queues[i]->waiting.leased, &text);
    }
    buf_char(&text, ']');
    return buf_view(&text);
}

/* ---- rows ---- */

static enum state shown_state(enum state stored) {
    return stored == STATE_QUEUED          ? STATE_RUNNING
           : stored == STATE_PENDING_RETRY ? STATE_RETRYING
                                           : stored;
}

/* The envelope as it is now: of a message that is taken, of a letter that was marked since. */
static struct bytes as_shown(struct bytes stored, bool taken, struct bytes mark,
                             struct arena *arena) {
    struct envelope envelope;
    if ((!taken && !mark.ptr) || envelope_restore(stored, arena, &envelope, NULL) != STATUS_OK ||
        mark_read(mark, arena, &envelope, NULL) != STATUS_OK)
        return stored;
    if (taken)
        envelope.state = shown_state(envelope.state);
    struct buf text;
    buf_init_heap(&text, 2 * (stored.len + mark.len) + 256);
    envelope_store(&envelope, &text);
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* One row more than the limit is asked for: it tells whether there is a next page. */
static enum status read_rows(struct database *database, sqlite3_stmt *stmt,
                             const struct store_query *query, struct arena *arena,
                             struct store_page *out, struct err *err) {
    enum status status = STATUS_OK;
    struct page_key last = {0};
    while (database_next(database, stmt, &status, err)) {
        if (out->count == query->limit) {
            if (out->count > 0)
                out->cursor = page_cursor(query, last, arena);
            break;
        }
        last = (struct page_key){.seq = (uint64_t)sqlite3_column_int64(stmt, LIST_SEQ),
                                 .dead_ms = sqlite3_column_int64(stmt, LIST_DEAD_MS)};
        struct bytes envelope = arena_dup(arena, database_text(stmt, LIST_ENVELOPE));
        envelope = as_shown(envelope, sqlite3_column_int(stmt, LIST_TAKEN) != 0,
                            database_text(stmt, LIST_MARK), arena);
        out->rows[out->count++] = (struct store_row){last.seq, envelope};
    }
    return status;
}

static enum status run(struct database *database, const struct list_sql *sql,
                       const struct store_query *query, struct arena *arena, struct store_page *out,
                       struct err *err) {
    sqlite3_stmt *stmt = NULL;
    enum status status = list_sql_prepare(sql, database->db, &stmt, err);
    if (status == STATUS_OK)
        status = read_rows(database, stmt, query, arena, out, err);
    sqlite3_finalize(stmt);
    return status;
}

enum status list_read(struct store *store, const struct store_query *query, struct arena *arena,
                      struct store_page *out, struct err *err) {
    struct sqlite_store *self = parts_of(store);
    struct list_sql sql;
    uint64_t behind = fold_wait(self);
    pthread_mutex_lock(&self->front.mutex);
    struct bytes taken = taken_seqs(self, arena);
    uint32_t queue = tables_queue_known(&self->front.tables, query->queue);
    pthread_mutex_unlock(&self->front.mutex);
    *out = (struct store_page){.behind = behind};
    out->rows = arena_alloc(arena, (query->limit + 1) * sizeof *out->rows);
    enum status status = list_sql_build(&sql, query, queue, taken, arena, err);
    if (status != STATUS_OK)
        return status;
    database_lock(self->list_db);
    status = run(self->list_db, &sql, query, arena, out, err);
    database_unlock(self->list_db);
    return status;
}
