#include "store/sqlite/list.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/mark.h"
#include "store/page.h"
#include "store/sqlite/fold.h"
#include "store/sqlite/list_sql.h"
#include "store/sqlite/packs.h"

enum { LIST_TRIES = 8 };

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

/* A row whose envelope is yet to be read. */
struct listed {
    struct bytes mark;
    bool taken;
};

struct listing {
    struct packs *packs;
    const struct store_query *query;
    struct arena *arena;
    struct store_page *page;
    struct listed *listed;     /* of each row */
    struct packs_wish *wishes; /* the same */
};

static void add_row(struct listing *listing, sqlite3_stmt *stmt) {
    struct store_page *page = listing->page;
    struct store_row *row = &page->rows[page->count];
    struct bytes mark = database_text(stmt, LIST_MARK);
    *row = (struct store_row){.seq = (uint64_t)sqlite3_column_int64(stmt, LIST_SEQ)};
    listing->listed[page->count] =
        (struct listed){.mark = mark.ptr ? arena_dup(listing->arena, mark) : BYTES_NONE,
                        .taken = sqlite3_column_int(stmt, LIST_TAKEN) != 0};
    struct packs_wish *wish = &listing->wishes[page->count];
    *wish = (struct packs_wish){.place = {(uint64_t)sqlite3_column_int64(stmt, LIST_AT),
                                          (uint64_t)sqlite3_column_int64(stmt, LIST_LEN)},
                                .bytes = &row->envelope};
    if (wish->place.at == 0) /* from before there were packs */
        row->envelope = arena_dup(listing->arena, database_text(stmt, LIST_ENVELOPE));
    page->count++;
}

/* One row more than the limit is asked for: it tells whether there is a next page. */
static enum status read_rows(struct listing *listing, struct database *database, sqlite3_stmt *stmt,
                             struct err *err) {
    struct store_page *page = listing->page;
    enum status status = STATUS_OK;
    struct page_key last = {0};
    page->count = 0;
    page->cursor = BYTES_NONE;
    while (database_next(database, stmt, &status, err)) {
        if (page->count == listing->query->limit) {
            if (page->count > 0)
                page->cursor = page_cursor(listing->query, last, listing->arena);
            break;
        }
        last = (struct page_key){.seq = (uint64_t)sqlite3_column_int64(stmt, LIST_SEQ),
                                 .dead_ms = sqlite3_column_int64(stmt, LIST_DEAD_MS)};
        add_row(listing, stmt);
    }
    sqlite3_reset(stmt);
    return status;
}

static enum status run(struct listing *listing, struct database *database, sqlite3_stmt *stmt,
                       struct err *err) {
    enum status status = read_rows(listing, database, stmt, err);
    if (status == STATUS_OK)
        status = packs_read_all(listing->packs, listing->wishes, listing->page->count,
                                listing->arena, err);
    return status;
}

/* A pack may go between our look at the rows and our look at the pack: then we look again. */
static enum status run_again(struct listing *listing, struct database *database,
                             const struct list_sql *sql, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    enum status status = list_sql_prepare(sql, database->db, &stmt, err);
    if (status == STATUS_OK)
        status = run(listing, database, stmt, err);
    for (int tries = 1; status == STATUS_NOT_FOUND && tries < LIST_TRIES; tries++)
        status = run(listing, database, stmt, err);
    sqlite3_finalize(stmt);
    return status;
}

static void show_rows(struct listing *listing) {
    for (size_t i = 0; i < listing->page->count; i++) {
        struct store_row *row = &listing->page->rows[i];
        row->envelope = as_shown(row->envelope, listing->listed[i].taken, listing->listed[i].mark,
                                 listing->arena);
    }
}

static struct listing listing_new(struct sqlite_store *self, const struct store_query *query,
                                  struct arena *arena, struct store_page *page) {
    size_t most = query->limit + 1;
    page->rows = arena_alloc(arena, most * sizeof *page->rows);
    return (struct listing){
        .packs = self->packs,
        .query = query,
        .arena = arena,
        .page = page,
        .listed = arena_alloc(arena, most * sizeof(struct listed)),
        .wishes = arena_alloc(arena, most * sizeof(struct packs_wish)),
    };
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
    struct listing listing = listing_new(self, query, arena, out);
    enum status status = list_sql_build(&sql, query, queue, taken, arena, err);
    if (status != STATUS_OK)
        return status;
    database_lock(self->list_db);
    status = run_again(&listing, self->list_db, &sql, err);
    database_unlock(self->list_db);
    if (status == STATUS_OK)
        show_rows(&listing);
    return status;
}
