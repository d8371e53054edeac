#include "store/sqlite/changes.h"

#include "store/sqlite/load_tables.h"
#include "store/sqlite/paging.h"
#include "store/sqlite/rows.h"

/* ---- bytes in memory ---- */

static void forget_bytes(struct sqlite_store *self, struct entry *entry) {
    self->recent_bytes -= entry->recent_bytes;
    entry->recent_bytes = 0;
    list_remove(&entry->recent);
    blob_unkeep(&entry->envelope);
    blob_unkeep(&entry->body);
}

static void keep_bytes(struct sqlite_store *self, struct entry *entry) {
    self->recent_bytes -= entry->recent_bytes;
    entry->recent_bytes = entry->envelope.bytes.len + entry->body.bytes.len;
    self->recent_bytes += entry->recent_bytes;
    list_remove(&entry->recent);
    list_push_back(&self->recent, &entry->recent);
    while (self->recent_bytes > RECENT_BYTES_MAX)
        forget_bytes(self, CONTAINER_OF(self->recent.next, struct entry, recent));
}

/* ---- what waits for the fold ---- */

void changes_add(struct sqlite_store *self, struct entry *entry) {
    if (entry->changed)
        return;
    entry->changed = true;
    list_push_back(&self->changes, &entry->change);
    self->change_count++;
}

static void drop(struct sqlite_store *self, struct entry *entry) {
    forget_bytes(self, entry);
    if (entry->changed)
        self->change_count--;
    tables_drop(&self->front.tables, entry);
}

void changes_note(struct sqlite_store *self, struct entry *entry, uint64_t position, bool body) {
    entry->envelope_place = position;
    if (body)
        entry->body_place = position;
    if (entry->envelope.blob || entry->body.blob)
        keep_bytes(self, entry);
    changes_add(self, entry);
}

void changes_release(struct sqlite_store *self, struct entry *entry) {
    bool in_use = entry->pins > 0 || entry->folding;
    if (entry->stage == ENTRY_FORGOTTEN) {
        forget_bytes(self, entry);
        if (in_use || entry->in_file)
            changes_add(self, entry);
        else
            drop(self, entry);
    } else if (entry->stage == ENTRY_HELD && !in_use && !entry->changed && !entry_stays(entry)) {
        drop(self, entry);
    }
}

/* ---- what is in the file alone ---- */

struct entry *changes_restore(struct sqlite_store *self, const struct row_facts *row,
                              const struct instant *now) {
    struct tables *tables = &self->front.tables;
    struct entry *entry = entry_new(row->seq, row->queue, &row->envelope, &tables->names);
    entry->mark = row->mark.ptr ? blob_of(row->mark) : NULL;
    entry->in_file = true;
    entry->envelope_place = entry->body_place = PLACE_FILE;
    tables_reserve(tables, entry);
    tables_restore(tables, entry, now);
    return entry;
}

/* A row that memory knows better is not used. One that waits was parked. */
static struct entry *restore_row(struct sqlite_store *self, const struct row_facts *row) {
    if (tables_find(&self->front.tables, row->seq))
        return NULL;
    paging_note_back(self, row);
    return changes_restore(self, row, NULL);
}

/* With the connection's lock. */
static enum status find_seq(struct sqlite_store *self, uint64_t seq, struct entry **out,
                            struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct row_facts row;
    bool found = false;
    enum status status = rows_by_seq(self->lookup_db, seq, &arena, &row, &found, err);
    if (status == STATUS_OK && found)
        status = load_tables_check_queue(&self->front.tables, row.seq, row.queue, err);
    *out = status == STATUS_OK && found ? restore_row(self, &row) : NULL;
    arena_free(&arena);
    return status;
}

/* With the connection's lock. */
static enum status find_id(struct sqlite_store *self, uint32_t queue, struct bytes id,
                           struct entry **out, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct row_facts row;
    bool found = false;
    enum status status = rows_by_id(self->lookup_db, queue, id, &arena, &row, &found, err);
    if (status == STATUS_OK && found)
        status = load_tables_check_queue(&self->front.tables, row.seq, row.queue, err);
    *out = status == STATUS_OK && found ? restore_row(self, &row) : NULL;
    arena_free(&arena);
    return status;
}

enum status changes_find(struct sqlite_store *self, uint64_t seq, struct entry **out,
                         struct err *err) {
    *out = tables_find(&self->front.tables, seq);
    if (*out)
        return STATUS_OK;
    database_lock(self->lookup_db);
    enum status status = find_seq(self, seq, out, err);
    database_unlock(self->lookup_db);
    return status;
}

/* What a commit looks up is read from one view of the file: beginning one costs as much as a row.
 * It cannot be too old, because what a later fold wrote leaves memory with the mutex only. */
static void hold_view(struct sqlite_store *self) {
    if (self->viewing)
        return;
    database_lock(self->lookup_db);
    (void)database_step(self->lookup_db, database_statement(self->lookup_db, SQL_BEGIN), NULL);
    self->viewing = true;
}

void changes_end_view(struct sqlite_store *self) {
    if (!self->viewing)
        return;
    (void)database_step(self->lookup_db, database_statement(self->lookup_db, SQL_END), NULL);
    database_unlock(self->lookup_db);
    self->viewing = false;
}

/* ---- hooks ---- */

static enum status hook_find(void *arg, uint64_t seq, struct entry **out, struct err *err) {
    struct sqlite_store *self = arg;
    hold_view(self);
    return find_seq(self, seq, out, err);
}

static enum status hook_find_id(void *arg, uint32_t queue, struct bytes id, struct entry **out,
                                struct err *err) {
    struct sqlite_store *self = arg;
    hold_view(self);
    return find_id(self, queue, id, out, err);
}

static void hook_changed(void *arg, struct entry *entry, uint64_t position, bool body) {
    changes_note(arg, entry, position, body);
}

static void hook_marked(void *arg, struct entry *entry) {
    changes_add(arg, entry);
}

static void hook_released(void *arg, struct entry *entry) {
    changes_release(arg, entry);
}

struct batch_hooks changes_hooks(struct sqlite_store *self) {
    return (struct batch_hooks){.arg = self,
                                .find = hook_find,
                                .find_id = hook_find_id,
                                .changed = hook_changed,
                                .marked = hook_marked,
                                .released = hook_released};
}
