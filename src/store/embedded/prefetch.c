#include "store/embedded/prefetch.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/embedded/sqlite/fold/changes.h"
#include "store/embedded/sqlite/load_tables.h"
#include "store/embedded/sqlite/rows.h"

struct wish {
    uint64_t seq; /* 0: find by id */
    uint32_t queue;
    struct bytes id;
    bool found;
    struct row_facts row;
};

struct prefetch {
    struct arena arena; /* for the rows */
    struct wish *wishes;
    size_t count;
    uint64_t settles; /* its value when the read began */
};

bool prefetch_is_needed(const struct sqlite_store *self, const struct commit_batch *batch) {
    uint64_t seq;
    struct bytes id;
    for (size_t i = 0; i < batch->count; i++) {
        if (commit_batch_wants(batch, i, &self->front.tables, &seq, &id))
            return true;
    }
    return false;
}

/* Called with the mutex. */
static void plan(const struct sqlite_store *self, const struct commit_batch *batch,
                 struct prefetch *prefetch) {
    prefetch->count = 0;
    prefetch->settles = self->settles;
    for (size_t i = 0; i < batch->count; i++) {
        struct wish *wish = &prefetch->wishes[prefetch->count];
        *wish = (struct wish){.queue = batch->commit->ops[i].queue};
        prefetch->count += commit_batch_wants(batch, i, &self->front.tables, &wish->seq, &wish->id);
    }
}

/* All rows are read in one transaction: beginning one costs as much as reading a row. */
static enum status read_wishes(struct database *db, struct prefetch *prefetch, struct err *err) {
    enum status status = STATUS_OK;
    database_lock(db);
    (void)database_step(db, database_statement(db, SQL_BEGIN), NULL);
    for (size_t i = 0; status == STATUS_OK && i < prefetch->count; i++) {
        struct wish *wish = &prefetch->wishes[i];
        status = wish->seq
                     ? rows_by_seq(db, wish->seq, &prefetch->arena, &wish->row, &wish->found, err)
                     : rows_by_id(db, wish->queue, wish->id, &prefetch->arena, &wish->row,
                                  &wish->found, err);
    }
    (void)database_step(db, database_statement(db, SQL_END), NULL);
    database_unlock(db);
    return status;
}

/* Called with the mutex: adds the rows to the tables, unless memory has newer entries. */
static enum status restore(struct sqlite_store *self, const struct prefetch *prefetch,
                           struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < prefetch->count; i++) {
        const struct wish *wish = &prefetch->wishes[i];
        if (wish->found)
            status =
                load_tables_check_queue(&self->front.tables, wish->row.seq, wish->row.queue, err);
        if (wish->found && status == STATUS_OK)
            changes_restore_row(self, &wish->row);
    }
    return status;
}

/* Called with the mutex: releases the entries that the commit does not need. */
static void release(struct sqlite_store *self, const struct prefetch *prefetch) {
    for (size_t i = 0; i < prefetch->count; i++) {
        const struct wish *wish = &prefetch->wishes[i];
        struct entry *entry = wish->found ? tables_find(&self->front.tables, wish->row.seq) : NULL;
        if (entry)
            changes_release(self, entry);
    }
}

enum status prefetch_and_stage(struct sqlite_store *self, struct commit_batch *batch) {
    struct commit_batch_hooks hooks = changes_hooks(self);
    struct err *err = &batch->commit->err;
    struct prefetch prefetch = {.wishes = memory_array(batch->count + 1, sizeof(struct wish))};
    enum status status;
    arena_init_heap(&prefetch.arena, 4096);
    do {
        plan(self, batch, &prefetch);
        pthread_mutex_unlock(&self->front.mutex);
        status = read_wishes(self->lookup_db, &prefetch, err);
        pthread_mutex_lock(&self->front.mutex);
    } while (status == STATUS_OK && prefetch.settles != self->settles);
    if (status == STATUS_OK)
        status = restore(self, &prefetch, err);
    if (status == STATUS_OK)
        status = commit_batch_stage(batch, ++self->tickets, &self->front.tables, &hooks);
    release(self, &prefetch);
    arena_free(&prefetch.arena);
    free(prefetch.wishes);
    return status;
}
