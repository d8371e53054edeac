#include "store/sqlite/snapshot.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/sqlite/changes.h"
#include "store/sqlite/fold.h"
#include "store/sqlite/keep_rows.h"
#include "store/sqlite/rows.h"

enum {
    READ_AHEAD = 1 << 20, /* what was committed together mostly stands together */
    GIVE_WAY_ENTRIES = 64,
    SETTLE_ENTRIES = 128,
};

/* ---- sealing ---- */

/* What is from before the last seal is in a snapshot before this one. */
static uint64_t place_of(uint64_t place, uint64_t sealed_end) {
    return place < sealed_end ? PLACE_FILE : place;
}

static void seal_entry(struct snapshot *snapshot, struct entry *entry, uint64_t sealed_end) {
    snapshot->entries[snapshot->entry_count++] = (struct snapshot_entry){
        .entry = entry,
        .forgotten = entry->stage == ENTRY_FORGOTTEN,
        .fresh = !entry->in_file && entry->folding == 0,
        .envelope_place = place_of(entry->envelope_place, sealed_end),
        .body_place = place_of(entry->body_place, sealed_end),
        .mark = blob_share(entry->mark),
    };
    entry->changed = false;
    entry->folding++;
}

static void seal_entries(struct snapshot *snapshot, struct sqlite_store *self) {
    snapshot->entries = memory_array(self->change_count + 1, sizeof *snapshot->entries);
    for (struct list *node; (node = list_pop_front(&self->changes)) != NULL;)
        seal_entry(snapshot, CONTAINER_OF(node, struct entry, change), self->sealed_end);
    self->folding_count += snapshot->entry_count;
    self->change_count = 0;
}

static void seal_ages(struct snapshot *snapshot, struct dlq *dlq) {
    struct ages *ages = &dlq->ages;
    bool all = ages->merged;
    snapshot->ages = memory_grow(snapshot->ages,
                                 (snapshot->age_count + ages->count + 1) * sizeof *snapshot->ages);
    for (size_t i = 0; i < ages->count; i++) {
        struct ages_span *span = &ages->spans[i];
        if (!all && !span->changed)
            continue;
        snapshot->ages[snapshot->age_count++] =
            (struct snapshot_age){.dlq = dlq->name, .first = all && i == 0, .span = *span};
        span->changed = false;
    }
    ages->merged = false;
}

static void seal_counts(struct map_node *node, void *arg) {
    struct snapshot *snapshot = arg;
    struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    if (!dlq->changed)
        return;
    dlq->changed = false;
    snapshot->counts = memory_grow(snapshot->counts, (snapshot->count_count + dlq->by_key.count) *
                                                         sizeof *snapshot->counts);
    for (const struct dlq_count *count = dlq->counts; count; count = count->next)
        snapshot->counts[snapshot->count_count++] =
            (struct snapshot_count){.dlq = dlq->name,
                                    .category = count->category,
                                    .reason = count->reason,
                                    .kind = count->kind,
                                    .count = count->count};
    seal_ages(snapshot, dlq);
}

static void seal_queues(struct snapshot *snapshot, struct sqlite_store *self) {
    snapshot->queues = memory_array(self->front.tables.queue_count + 1, sizeof *snapshot->queues);
    for (size_t i = 0; i < self->front.tables.queue_count; i++) {
        struct queue *queue = self->front.tables.queues[i];
        if (!queue->changed)
            continue;
        queue->changed = false;
        snapshot->queues[snapshot->queue_count++] = (struct snapshot_queue){
            .number = queue->number,
            .name = queue->name,
            .facts = queue->facts.ptr ? bytes_dup(queue->facts) : NULL,
        };
    }
}

static void seal_keeps(struct snapshot *snapshot, struct sqlite_store *self) {
    struct keeps *keeps = &self->front.tables.keeps;
    snapshot->keeps = memory_array(keeps->change_count + 1, sizeof *snapshot->keeps);
    for (struct list *node; (node = list_pop_front(&keeps->changes)) != NULL;) {
        struct keep *keep = CONTAINER_OF(node, struct keep, change);
        struct snapshot_keep *sealed = &snapshot->keeps[snapshot->keep_count++];
        *sealed = (struct snapshot_keep){.keep = keep, .expires = keep->expires};
        if (keep->value.blob)
            blob_keep(&sealed->value, keep->value.blob, keep->value.bytes);
        keep->changed = false;
        keep->folding++;
    }
    self->folding_count += snapshot->keep_count;
    keeps->change_count = keeps->changed_bytes = 0;
}

static void seal_groups(struct snapshot *snapshot, struct groups *groups) {
    snapshot->groups = memory_array(groups->change_count + 1, sizeof *snapshot->groups);
    for (struct list *node; (node = list_pop_front(&groups->changes)) != NULL;) {
        const struct dlq_group *group = CONTAINER_OF(node, struct dlq_group, change);
        snapshot->groups[snapshot->group_count++] = (struct snapshot_group){
            .dlq = group->dlq,
            .group = {.fingerprint = group->fingerprint,
                      .count = group->count,
                      .total = group->total,
                      .first_seen = group->first_seen,
                      .last_seen = group->last_seen,
                      .sample = group->sample},
        };
    }
    groups->change_count = 0;
}

struct snapshot *snapshot_seal(struct sqlite_store *self) {
    struct snapshot *snapshot = memory_new(sizeof *snapshot);
    snapshot->position = self->applied_end;
    snapshot->next_seq = self->front.tables.next_seq;
    seal_entries(snapshot, self);
    seal_keeps(snapshot, self);
    seal_groups(snapshot, &self->front.tables.groups);
    map_each(&self->front.tables.dlqs.map, seal_counts, snapshot);
    seal_queues(snapshot, self);
    self->sealed_end = snapshot->position;
    return snapshot;
}

static void prepare_entry(const struct snapshot_entry *sealed, struct snapshot_bytes *out) {
    const struct entry *entry = sealed->entry;
    if (entry->envelope.blob && entry->envelope_place == sealed->envelope_place)
        blob_keep(&out->envelope, entry->envelope.blob, entry->envelope.bytes);
    if (entry->body.blob && entry->body_place == sealed->body_place)
        blob_keep(&out->body, entry->body.blob, entry->body.bytes);
}

void snapshot_prepare(struct snapshot *snapshot) {
    if (snapshot->bytes)
        return;
    snapshot->bytes = memory_array(snapshot->entry_count + 1, sizeof *snapshot->bytes);
    for (size_t i = 0; i < snapshot->entry_count; i++) {
        if (!snapshot->entries[i].forgotten)
            prepare_entry(&snapshot->entries[i], &snapshot->bytes[i]);
    }
}

/* ---- writing ---- */

struct reading {
    struct journal *journal;
    struct journal_window envelopes, bodies;
};

/* The record's bytes from the journal, where they are not in memory. */
static enum status read_record(struct journal *journal, uint64_t place,
                               struct journal_window *window, struct record *out, struct err *err) {
    struct bytes bytes;
    enum status status = journal_read(journal, place, window, &bytes, err);
    if (status == STATUS_OK && !record_decode(bytes, out))
        status = err_set(err, STATUS_CORRUPT, "the journal's record at %llu is not one of ours",
                         (unsigned long long)place);
    return status;
}

static enum status read_entry(struct reading *reading, const struct snapshot_entry *entry,
                              const struct snapshot_bytes *bytes, struct row *row,
                              struct err *err) {
    struct record record = {.body = BYTES_NONE};
    enum status status = STATUS_OK;
    *row = (struct row){.seq = entry->entry->seq,
                        .queue = entry->entry->queue,
                        .envelope = bytes->envelope.bytes,
                        .body = bytes->body.bytes};
    if (!bytes->envelope.blob) {
        status =
            read_record(reading->journal, entry->envelope_place, &reading->envelopes, &record, err);
        row->envelope = record.text;
    }
    if (status != STATUS_OK || bytes->body.blob || entry->body_place == PLACE_FILE)
        return status;
    if (bytes->envelope.blob || entry->body_place != entry->envelope_place)
        status = read_record(reading->journal, entry->body_place, &reading->bodies, &record, err);
    row->body = record.body;
    return status;
}

static enum status write_entry(struct reading *reading, const struct snapshot *snapshot,
                               size_t place, struct rows_batch *rows, struct database *database,
                               struct err *err) {
    const struct snapshot_entry *entry = &snapshot->entries[place];
    struct bytes mark = BYTES_NONE;
    if (entry->mark)
        mark = (struct bytes){entry->mark->data, entry->mark->len};
    if (entry->envelope_place == PLACE_FILE)
        return rows_mark(database, entry->entry->seq, mark, err);
    struct row row;
    enum status status = read_entry(reading, entry, &snapshot->bytes[place], &row, err);
    row.mark = mark;
    row.fresh = entry->fresh && !snapshot->tried;
    return status == STATUS_OK ? rows_batch_write(rows, &row, err) : status;
}

static enum status write_entries(const struct snapshot *snapshot, struct error_texts *texts,
                                 struct sqlite_store *self, struct err *err) {
    struct reading reading = {
        .journal = self->journal, .envelopes.ahead = READ_AHEAD, .bodies.ahead = READ_AHEAD};
    struct rows_batch *rows = rows_batch_new(self->fold_db, texts);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->entry_count; i++) {
        if (!snapshot->entries[i].forgotten)
            status = write_entry(&reading, snapshot, i, rows, self->fold_db, err);
        if (i % GIVE_WAY_ENTRIES == 0)
            fold_give_way(self);
    }
    if (status == STATUS_OK)
        status = rows_batch_flush(rows, err);
    rows_batch_free(rows);
    journal_window_free(&reading.envelopes);
    journal_window_free(&reading.bodies);
    return status;
}

static enum status delete_forgotten(const struct snapshot *snapshot, struct error_texts *texts,
                                    struct database *database, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < snapshot->entry_count; i++) {
        if (snapshot->entries[i].forgotten)
            status = rows_delete(database, texts, snapshot->entries[i].entry->seq, err);
    }
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
        database_bind_text(stmt, 2, bytes_of(dlqs_kind_text(count->kind)));
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
        const struct store_group *group = &snapshot->groups[i].group;
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
        status = keep_rows_set(database, sealed->keep->queue, &keep, err);
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

/* ---- settling ---- */

static void settle_entry(struct sqlite_store *self, const struct snapshot_entry *sealed) {
    struct entry *entry = sealed->entry;
    entry->folding--;
    entry->in_file = !sealed->forgotten;
    if (entry->envelope_place == sealed->envelope_place)
        entry->envelope_place = PLACE_FILE;
    if (entry->body_place == sealed->body_place)
        entry->body_place = PLACE_FILE;
    changes_release(self, entry);
}

/* A few at a time, because commits wait for the mutex. */
void snapshot_settle_entries(const struct snapshot *snapshot, struct sqlite_store *self) {
    for (size_t i = 0; i < snapshot->entry_count; i += SETTLE_ENTRIES) {
        pthread_mutex_lock(&self->front.mutex);
        for (size_t j = i; j < i + SETTLE_ENTRIES && j < snapshot->entry_count; j++)
            settle_entry(self, &snapshot->entries[j]);
        pthread_mutex_unlock(&self->front.mutex);
    }
}

void snapshot_settle(struct snapshot *snapshot, struct sqlite_store *self) {
    self->folding_count -= snapshot->entry_count + snapshot->keep_count;
    for (size_t i = 0; i < snapshot->keep_count; i++) {
        snapshot->keeps[i].keep->folding--;
        keeps_release(&self->front.tables.keeps, snapshot->keeps[i].keep);
    }
    self->folded_end = snapshot->position;
}

void snapshot_free(struct snapshot *snapshot) {
    for (size_t i = 0; snapshot->bytes && i < snapshot->entry_count; i++) {
        blob_unkeep(&snapshot->bytes[i].envelope);
        blob_unkeep(&snapshot->bytes[i].body);
    }
    free(snapshot->bytes);
    for (size_t i = 0; i < snapshot->entry_count; i++)
        blob_free(snapshot->entries[i].mark);
    for (size_t i = 0; i < snapshot->keep_count; i++)
        blob_unkeep(&snapshot->keeps[i].value);
    free(snapshot->keeps);
    free(snapshot->groups);
    for (size_t i = 0; i < snapshot->queue_count; i++)
        free(snapshot->queues[i].facts);
    free(snapshot->entries);
    free(snapshot->counts);
    free(snapshot->ages);
    free(snapshot->queues);
    free(snapshot);
}
