#include "store/embedded/sqlite/fold/changes.h"

#include "store/embedded/sqlite/load_tables.h"
#include "store/embedded/pages/paging.h"
#include "store/embedded/sqlite/rows.h"

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

/* ---- changes for the fold ---- */

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

/* ---- rows that are only in the file ---- */

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

struct entry *changes_restore_row(struct sqlite_store *self, const struct row_facts *row) {
    if (tables_find(&self->front.tables, row->seq))
        return NULL;
    paging_note_back(self, row);
    return changes_restore(self, row, NULL);
}

static enum status read_seq(struct sqlite_store *self, uint64_t seq, struct arena *arena,
                            struct row_facts *row, bool *found, struct err *err) {
    database_lock(self->lookup_db);
    enum status status = rows_by_seq(self->lookup_db, seq, arena, row, found, err);
    database_unlock(self->lookup_db);
    return status;
}

/* Called with the row that was read, and with the mutex if there are threads. */
static enum status restore_found(struct sqlite_store *self, const struct row_facts *row,
                                 struct entry **out, struct err *err) {
    enum status status = load_tables_check_queue(&self->front.tables, row->seq, row->queue, err);
    if (status == STATUS_OK)
        *out = changes_restore_row(self, row);
    return status;
}

enum status changes_find(struct sqlite_store *self, uint64_t seq, struct entry **out,
                         struct err *err) {
    struct arena arena;
    struct row_facts row;
    bool found = false;
    *out = tables_find(&self->front.tables, seq);
    if (*out)
        return STATUS_OK;
    arena_init_heap(&arena, 4096);
    enum status status = read_seq(self, seq, &arena, &row, &found, err);
    if (status == STATUS_OK && found)
        status = restore_found(self, &row, out, err);
    arena_free(&arena);
    return status;
}

enum status changes_fetch(struct sqlite_store *self, uint64_t seq, struct entry **out,
                          struct err *err) {
    struct arena arena;
    struct row_facts row;
    enum status status;
    uint64_t settles;
    bool found;
    *out = tables_find(&self->front.tables, seq);
    if (*out)
        return STATUS_OK;
    arena_init_heap(&arena, 4096);
    do {
        found = false;
        settles = self->settles;
        pthread_mutex_unlock(&self->front.mutex);
        status = read_seq(self, seq, &arena, &row, &found, err);
        pthread_mutex_lock(&self->front.mutex);
    } while (status == STATUS_OK && settles != self->settles);
    if (status == STATUS_OK && found)
        status = restore_found(self, &row, out, err);
    if (!*out)
        *out = tables_find(&self->front.tables, seq); /* it was loaded meanwhile */
    arena_free(&arena);
    return status;
}

/* ---- hooks ---- */

static void hook_changed(void *arg, struct entry *entry, uint64_t position, bool body) {
    changes_note(arg, entry, position, body);
}

static void hook_marked(void *arg, struct entry *entry) {
    changes_add(arg, entry);
}

static void hook_released(void *arg, struct entry *entry) {
    changes_release(arg, entry);
}

struct commit_batch_hooks changes_hooks(struct sqlite_store *self) {
    return (struct commit_batch_hooks){
        .arg = self, .changed = hook_changed, .marked = hook_marked, .released = hook_released};
}
