#include "store/embedded/sqlite/note_rows.h"

#include "base/steady.h"

/* Minimum number of notes deleted at a time; it is small, so that a fold stays short. */
enum { SWEEP_MIN = 1024 };

/* ---- one note ---- */

static enum status add_rows(struct database *database, uint32_t queue, const char *space,
                            struct bytes name, struct wall now, struct arena *arena,
                            struct notes_found *found, struct err *err) {
    enum status status = STATUS_OK;
    database_lock(database);
    sqlite3_stmt *stmt = database_statement(database, SQL_KEPT);
    database_bind_text(stmt, 1, bytes_of(space));
    database_bind_text(stmt, 2, name);
    sqlite3_bind_int64(stmt, 3, now.ms);
    while (database_next(database, stmt, &status, err)) {
        uint32_t row_queue = (uint32_t)sqlite3_column_int64(stmt, 0);
        if (queue == 0 || row_queue == queue)
            notes_add_row(found, row_queue, database_text(stmt, 1), arena);
    }
    database_unlock(database);
    return status;
}

/* A note that leaves memory between the two lookups is in the file by then. */
enum status note_rows_get(struct letters *letters, uint32_t queue, const char *space,
                          struct bytes name, struct wall now, struct arena *arena,
                          struct bytes *value, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct notes_found found;
    pthread_mutex_lock(&self->front.mutex);
    notes_find(&self->front.tables.keeps, queue, space, name, now, arena, &found);
    pthread_mutex_unlock(&self->front.mutex);
    enum status status = STATUS_OK;
    if (queue == 0 || found.queue_count == 0)
        status = add_rows(self->lookup_db, queue, space, name, now, arena, &found, err);
    return status == STATUS_OK ? notes_answer(&found, name, value, err) : status;
}

/* ---- many notes ---- */

struct merging {
    const struct notes_range *range;
    const struct notes_row *rows; /* in memory */
    size_t row_count, next;
    struct letters_note *out;
    size_t count, limit;
};

static void put_row(struct merging *merging, const struct notes_row *row) {
    if (!row->hidden && merging->count < merging->limit)
        merging->out[merging->count++] = (struct letters_note){row->name, row->value};
}

/* Adds the notes in memory that come before the file's row, or all remaining ones (NULL). True if
 * memory has the note of that row, which takes precedence. */
static bool put_memory(struct merging *merging, const struct notes_row *row) {
    while (merging->next < merging->row_count) {
        const struct notes_row *mine = &merging->rows[merging->next];
        int order = row ? notes_compare(merging->range, mine, row) : -1;
        if (order > 0)
            return false;
        put_row(merging, mine);
        merging->next++;
        if (order == 0)
            return true;
    }
    return false;
}

/* In SQLite any blob is greater than any text. */
static void bind_range(sqlite3_stmt *stmt, const struct notes_range *range) {
    database_bind_text(stmt, 1, bytes_of(range->space));
    database_bind_text(stmt, 2, range->from);
    if (range->until.ptr)
        database_bind_text(stmt, 3, range->until);
    else
        sqlite3_bind_zeroblob(stmt, 3, 0);
    sqlite3_bind_int64(stmt, 4, range->now.ms);
}

static enum status merge(struct database *database, struct merging *merging, struct arena *arena,
                         struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt =
        database_statement(database, merging->range->descending ? SQL_KEPT_DOWN : SQL_KEPT_UP);
    bind_range(stmt, merging->range);
    while (merging->count < merging->limit && database_next(database, stmt, &status, err)) {
        struct notes_row row = {.name = arena_dup(arena, database_text(stmt, 0)),
                                .queue = (uint32_t)sqlite3_column_int64(stmt, 1)};
        if (put_memory(merging, &row) || merging->count == merging->limit)
            continue;
        row.value = arena_dup(arena, database_text(stmt, 2));
        put_row(merging, &row);
    }
    sqlite3_reset(stmt);
    put_memory(merging, NULL);
    return status;
}

enum status note_rows_list(struct letters *letters, const char *space, struct bytes prefix,
                           struct bytes after, bool descending, size_t limit, struct arena *arena,
                           struct letters_note *out, size_t *count, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct notes_range range = notes_range(space, prefix, after, descending, arena);
    range.now = steady_wall(self->opened, clock_now(self->options.clock));
    struct notes_row *rows = NULL;
    struct merging merging = {.range = &range, .out = out, .limit = limit};
    pthread_mutex_lock(&self->front.mutex);
    merging.row_count = notes_list(&self->front.tables.keeps, &range, limit, arena, &rows);
    pthread_mutex_unlock(&self->front.mutex);
    merging.rows = rows;
    database_lock(self->lookup_db);
    enum status status = merge(self->lookup_db, &merging, arena, err);
    database_unlock(self->lookup_db);
    *count = merging.count;
    return status;
}

/* ---- writing ---- */

enum status note_rows_set(struct database *database, uint32_t queue, const struct store_keep *keep,
                          struct err *err) {
    sqlite3_stmt *stmt =
        database_statement(database, keep->value.ptr ? SQL_KEEP_SET : SQL_KEEP_DROP);
    database_bind_text(stmt, 1, bytes_of(keep->space));
    database_bind_text(stmt, 2, keep->name);
    sqlite3_bind_int64(stmt, 3, queue);
    if (keep->value.ptr) {
        database_bind_text(stmt, 4, keep->value);
        sqlite3_bind_int64(stmt, 5, keep->expires.ms);
    }
    return database_step(database, stmt, err);
}

/* Runs at intervals, with a bounded number of deletions, and in every fold while more expired notes
 * are left. It deletes up to twice as many as the fold wrote, so that expired notes do not
 * accumulate. */
enum status note_rows_sweep(struct sqlite_store *self, size_t written, struct err *err) {
    struct instant now = clock_now(self->options.clock);
    if (now.mono.ms < self->sweep_due.ms)
        return STATUS_OK;
    size_t limit = 2 * written > SWEEP_MIN ? 2 * written : SWEEP_MIN;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_KEEP_SWEEP);
    sqlite3_bind_int64(stmt, 1, steady_wall(self->opened, now).ms);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)limit);
    enum status status = database_step(self->fold_db, stmt, err);
    bool more = status == STATUS_OK && (size_t)sqlite3_changes(self->fold_db->db) >= limit;
    self->sweep_due = more ? now.mono : mono_after(now.mono, SWEEP_MS);
    return status;
}
