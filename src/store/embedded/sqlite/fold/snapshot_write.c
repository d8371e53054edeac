#include <stdlib.h>

#include "base/memory.h"
#include "store/embedded/sqlite/fold/row_builder.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/sqlite/note_rows.h"
#include "store/embedded/sqlite/fold/snapshot_read.h"

enum { GIVE_WAY_ENTRIES = 64, MEMO_CHUNK = 1024 };

/* Entries that are written one by one. */
struct writing {
    struct snapshot_reader reader;
    struct error_texts *texts;
    struct database *database;
    struct mark_memo memo;
    struct arena arena; /* for the memo */
};

static enum status write_mark(struct writing *writing, const struct snapshot_entry *entry,
                              struct err *err) {
    struct bytes text = snapshot_read_mark(entry);
    const struct mark *mark = mark_recall(&writing->memo, text, &writing->arena);
    if (!mark)
        return err_set(err, STATUS_CORRUPT, "the mark of a letter cannot be read");
    return rows_mark(writing->database, entry->entry->seq, mark, text, err);
}

/* Writes an entry of which the file may have a row, or that is too large for a draft. */
static enum status write_entry(struct writing *writing, const struct snapshot *snapshot,
                               size_t place, struct err *err) {
    const struct snapshot_entry *entry = &snapshot->entries[place];
    if (entry->envelope_place == PLACE_FILE)
        return write_mark(writing, entry, err);
    struct row row;
    enum status status = snapshot_read_row(&writing->reader, snapshot, place, &row, err);
    return status == STATUS_OK ? rows_write(writing->database, writing->texts, &row, err) : status;
}

static enum status write_left(const struct snapshot *snapshot, const size_t *left, size_t count,
                              struct error_texts *texts, struct sqlite_store *self,
                              struct err *err) {
    struct writing writing = {
        .reader = snapshot_read_begin(self->journal), .texts = texts, .database = self->fold_db};
    arena_init_heap(&writing.arena, MEMO_CHUNK);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = write_entry(&writing, snapshot, left[i], err);
        if (i % GIVE_WAY_ENTRIES == 0)
            fold_give_way(self);
    }
    arena_free(&writing.arena);
    snapshot_read_end(&writing.reader);
    return status;
}

static enum status write_entries(const struct snapshot *snapshot, struct error_texts *texts,
                                 struct sqlite_store *self, struct err *err) {
    size_t count = 0, *left = memory_array(snapshot->entry_count + 1, sizeof *left);
    enum status status = row_builder_write(self->drafter, self, snapshot, texts, left, &count, err);
    if (status == STATUS_OK)
        status = write_left(snapshot, left, count, texts, self, err);
    free(left);
    return status;
}

static int ascending(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* In the order of the table, so that each of its pages is changed once. */
static enum status delete_forgotten(const struct snapshot *snapshot, struct error_texts *texts,
                                    struct database *database, struct err *err) {
    uint64_t *seqs = memory_array(snapshot->entry_count + 1, sizeof *seqs);
    size_t count = 0;
    for (size_t i = 0; i < snapshot->entry_count; i++) {
        if (snapshot->entries[i].forgotten)
            seqs[count++] = snapshot->entries[i].entry->seq;
    }
    qsort(seqs, count, sizeof *seqs, ascending);
    enum status status = rows_delete(database, texts, seqs, count, err);
    free(seqs);
    return status;
}

static enum status write_rows(const struct snapshot *snapshot, struct sqlite_store *self,
                              struct err *err) {
    struct error_texts texts = {0};
    enum status status = delete_forgotten(snapshot, &texts, self->fold_db, err);
    if (status == STATUS_OK)
        status = write_entries(snapshot, &texts, self, err);
    if (status == STATUS_OK)
        status = error_texts_flush(&texts, self->fold_db, err);
    error_texts_free(&texts);
    return status;
}

static struct bytes name_text(const struct name *name) {
    return name ? name->text : BYTES("");
}

static enum status write_counts(const struct snapshot *snapshot, struct database *database,
                                struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->count_count; i++) {
        const struct snapshot_count *count = &snapshot->counts[i];
        sqlite3_stmt *stmt = database_statement(database, SQL_COUNTER_SET);
        database_bind_text(stmt, 1, count->dlq->text);
        database_bind_text(stmt, 2, bytes_of(dlq_counters_kind_text(count->kind)));
        database_bind_text(stmt, 3, name_text(count->category));
        database_bind_text(stmt, 4, name_text(count->reason));
        sqlite3_bind_int64(stmt, 5, (sqlite3_int64)count->count);
        status = database_step(database, stmt, err);
    }
    return status;
}

static enum status write_age(const struct snapshot_age *age, struct database *database,
                             struct err *err) {
    enum status status = STATUS_OK;
    if (age->first) {
        sqlite3_stmt *stmt = database_statement(database, SQL_AGES_DELETE);
        database_bind_text(stmt, 1, age->dlq->text);
        status = database_step(database, stmt, err);
    }
    if (status != STATUS_OK)
        return status;
    sqlite3_stmt *stmt = database_statement(database, SQL_AGE_SET);
    const int64_t numbers[] = {age->span.start_ms, age->span.end_ms, age->span.oldest_ms,
                               (int64_t)age->span.count};
    database_bind_text(stmt, 1, age->dlq->text);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(stmt, 2 + i, numbers[i]);
    return database_step(database, stmt, err);
}

static enum status write_ages(const struct snapshot *snapshot, struct database *database,
                              struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->age_count; i++)
        status = write_age(&snapshot->ages[i], database, err);
    return status;
}

static enum status write_groups(const struct snapshot *snapshot, struct database *database,
                                struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->group_count; i++) {
        const struct letters_group *group = &snapshot->groups[i].group;
        const int64_t numbers[] = {(int64_t)group->count, (int64_t)group->total,
                                   group->first_seen.ms, group->last_seen.ms,
                                   (int64_t)group->sample};
        char fingerprint[DATABASE_FINGERPRINT_SIZE];
        database_fingerprint(group->fingerprint, fingerprint);
        sqlite3_stmt *stmt = database_statement(database, SQL_GROUP_SET);
        database_bind_text(stmt, 1, snapshot->groups[i].dlq->text);
        database_bind_text(stmt, 2, bytes_of(fingerprint));
        for (int n = 0; n < 5; n++)
            sqlite3_bind_int64(stmt, 3 + n, numbers[n]);
        status = database_step(database, stmt, err);
    }
    return status;
}

static enum status write_queues(const struct snapshot *snapshot, struct database *database,
                                struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->queue_count; i++) {
        sqlite3_stmt *stmt = database_statement(database, SQL_QUEUE_SET);
        sqlite3_bind_int64(stmt, 1, snapshot->queues[i].number);
        database_bind_text(stmt, 2, name_text(snapshot->queues[i].name));
        database_bind_text(stmt, 3, bytes_of(snapshot->queues[i].facts));
        status = database_step(database, stmt, err);
    }
    return status;
}

static enum status write_keeps(const struct snapshot *snapshot, struct database *database,
                               struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->keep_count; i++) {
        const struct snapshot_keep *sealed = &snapshot->keeps[i];
        struct store_keep keep = {.space = sealed->keep->space,
                                  .name = sealed->keep->name,
                                  .value = sealed->value.bytes,
                                  .expires = sealed->expires};
        status = note_rows_set(database, sealed->keep->queue, &keep, err);
    }
    return status;
}

enum status snapshot_write(const struct snapshot *snapshot, struct sqlite_store *self,
                           struct err *err) {
    struct database *database = self->fold_db;
    enum status status = write_rows(snapshot, self, err);
    if (status == STATUS_OK)
        status = write_counts(snapshot, database, err);
    if (status == STATUS_OK)
        status = write_ages(snapshot, database, err);
    if (status == STATUS_OK)
        status = write_queues(snapshot, database, err);
    if (status == STATUS_OK)
        status = write_keeps(snapshot, database, err);
    if (status == STATUS_OK)
        status = write_groups(snapshot, database, err);
    if (status == STATUS_OK)
        status = database_set_meta(database, "next_seq", snapshot->next_seq, err);
    if (status == STATUS_OK)
        status = database_set_meta(database, "journal_position", snapshot->position, err);
    return status;
}
