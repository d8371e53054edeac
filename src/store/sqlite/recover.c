#include "store/sqlite/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/log.h"
#include "store/sqlite/changes.h"
#include "store/sqlite/paging.h"
#include "store/sqlite/rows.h"

/* ---- the file ---- */

static enum status load_queues(struct sqlite_store *self, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_QUEUES);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct queue *queue = tables_queue_restore(
            &self->front.tables, (uint32_t)sqlite3_column_int64(stmt, 0), database_text(stmt, 1));
        if (sqlite3_column_type(stmt, 2) != SQLITE_NULL)
            tables_queue_facts(queue, database_text(stmt, 2));
        queue->changed = false;
    }
    return status;
}

static enum status load_counters(struct sqlite_store *self, struct err *err) {
    struct names *names = &self->front.tables.names;
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_COUNTERS);
    while (database_next(self->fold_db, stmt, &status, err)) {
        enum count_kind kind;
        if (!dlqs_kind_parse(database_text(stmt, 1), &kind))
            continue;
        struct dlq *dlq =
            dlqs_get(&self->front.tables.dlqs, names_get(names, database_text(stmt, 0)));
        uint64_t count = (uint64_t)sqlite3_column_int64(stmt, 4);
        *dlqs_count(dlq, kind, names_get(names, database_text(stmt, 2)),
                    names_get(names, database_text(stmt, 3))) = count;
        if (kind == COUNT_CATEGORY)
            dlq->depth += count;
    }
    return status;
}

static enum status load_ages(struct sqlite_store *self, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_AGES);
    while (database_next(self->fold_db, stmt, &status, err)) {
        struct dlq *dlq = dlqs_get(&self->front.tables.dlqs,
                                   names_get(&self->front.tables.names, database_text(stmt, 0)));
        ages_restore(&dlq->ages, sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2),
                     sqlite3_column_int64(stmt, 3), (uint64_t)sqlite3_column_int64(stmt, 4));
    }
    return status;
}

static enum status load_groups(struct sqlite_store *self, struct err *err) {
    struct tables *tables = &self->front.tables;
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_GROUPS);
    while (database_next(self->fold_db, stmt, &status, err)) {
        char fingerprint[DATABASE_FINGERPRINT_SIZE];
        snprintf(fingerprint, sizeof fingerprint, "%.*s", BYTES_ARG(database_text(stmt, 1)));
        struct store_group group = {
            .fingerprint = strtoull(fingerprint, NULL, 16),
            .count = (uint64_t)sqlite3_column_int64(stmt, 2),
            .total = (uint64_t)sqlite3_column_int64(stmt, 3),
            .first_seen = {sqlite3_column_int64(stmt, 4)},
            .last_seen = {sqlite3_column_int64(stmt, 5)},
            .sample = (uint64_t)sqlite3_column_int64(stmt, 6),
        };
        groups_restore(&tables->groups, names_get(&tables->names, database_text(stmt, 0)), &group);
    }
    return status;
}

enum status recover_file(struct sqlite_store *self, uint64_t *position, struct err *err) {
    struct instant now = clock_now(self->options.clock);
    uint64_t next_seq = 0;
    enum status status = database_meta(self->fold_db, "journal_position", position, err);
    if (status == STATUS_OK)
        status = database_meta(self->fold_db, "next_seq", &next_seq, err);
    if (next_seq > self->front.tables.next_seq)
        self->front.tables.next_seq = next_seq;
    if (status == STATUS_OK)
        status = load_queues(self, err);
    if (status == STATUS_OK)
        status = load_counters(self, err);
    if (status == STATUS_OK)
        status = load_ages(self, err);
    if (status == STATUS_OK)
        status = load_groups(self, err);
    if (status == STATUS_OK)
        status = paging_load(self, now, err);
    if (status == STATUS_OK)
        status = paging_restore(self, database_statement(self->fold_db, SQL_CLOSING), now, err);
    return status;
}

/* ---- the journal ---- */

struct replayed {
    struct sqlite_store *self;
    uint64_t position;
    const struct record *record;
    struct instant now;
    struct err *err;
};

static enum status not_ours(uint64_t position, struct err *err) {
    return err_set(err, STATUS_CORRUPT, "the journal's record at %llu is not one of ours",
                   (unsigned long long)position);
}

static enum status replay_put(struct replayed *replayed, const struct envelope *envelope) {
    struct tables *tables = &replayed->self->front.tables;
    struct entry *entry =
        entry_new(replayed->record->seq, replayed->record->queue, envelope, &tables->names);
    tables_reserve(tables, entry);
    tables_hold(tables, entry, &replayed->now);
    changes_note(replayed->self, entry, replayed->position, true);
    return STATUS_OK;
}

static enum status replay_update(struct replayed *replayed, const struct envelope *envelope,
                                 struct entry *entry) {
    struct tables *tables = &replayed->self->front.tables;
    struct facts facts;
    entry_facts(envelope, &tables->names, &facts);
    tables_change(tables, entry, &facts, &replayed->now);
    changes_note(replayed->self, entry, replayed->position, replayed->record->body.ptr != NULL);
    return STATUS_OK;
}

static enum status replay_message(struct replayed *replayed) {
    struct entry *entry = NULL;
    enum status status = changes_find(replayed->self, replayed->record->seq, &entry, replayed->err);
    if (status != STATUS_OK)
        return status;
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct envelope envelope;
    status = envelope_restore_facts(replayed->record->text, &arena, &envelope, replayed->err);
    if (status == STATUS_OK && entry && entry->stage == ENTRY_HELD)
        status = replay_update(replayed, &envelope, entry);
    else if (status == STATUS_OK && !entry && replayed->record->body.ptr)
        status = replay_put(replayed, &envelope);
    else if (status == STATUS_OK)
        log_warn("the journal changes message %llu, which is not held",
                 (unsigned long long)replayed->record->seq);
    arena_free(&arena);
    return status;
}

static enum status replay_forget(struct replayed *replayed) {
    struct sqlite_store *self = replayed->self;
    if (replayed->record->text.len > 0)
        dlqs_spilled(&self->front.tables.dlqs,
                     names_get(&self->front.tables.names, replayed->record->text));
    struct entry *entry = NULL;
    enum status status = changes_find(self, replayed->record->seq, &entry, replayed->err);
    if (status == STATUS_OK && entry && entry->stage == ENTRY_HELD) {
        tables_forget(&self->front.tables, entry);
        changes_release(self, entry);
    }
    return status;
}

static enum status replay_queue_facts(struct replayed *replayed) {
    tables_queue_facts(tables_queue(&replayed->self->front.tables, replayed->record->queue),
                       replayed->record->text);
    return STATUS_OK;
}

static enum status replay_queue_name(struct replayed *replayed) {
    tables_queue_restore(&replayed->self->front.tables, replayed->record->queue,
                         replayed->record->text)
        ->changed = true;
    return STATUS_OK;
}

static enum status replay_mark(struct replayed *replayed) {
    struct sqlite_store *self = replayed->self;
    struct entry *entry = NULL;
    enum status status = changes_find(self, replayed->record->seq, &entry, replayed->err);
    if (status == STATUS_OK && entry && entry->stage == ENTRY_HELD) {
        if (!tables_mark(&self->front.tables, entry, replayed->record->text, &replayed->now))
            return not_ours(replayed->position, replayed->err);
        changes_add(self, entry);
    }
    return status;
}

static enum status replay_keep(struct replayed *replayed) {
    struct store_keep keep;
    if (!keeps_decode(replayed->record, &keep))
        return not_ours(replayed->position, replayed->err);
    struct blob *value = keep.value.ptr ? blob_of(keep.value) : NULL;
    if (value)
        keep.value.ptr = value->data;
    keeps_set(&replayed->self->front.tables.keeps, replayed->record->queue, &keep, value);
    blob_free(value);
    return STATUS_OK;
}

enum status recover_record(struct sqlite_store *self, uint64_t position, struct bytes bytes,
                           struct err *err) {
    static enum status (*const replay[])(struct replayed *) = {
        [RECORD_PUT] = replay_message,
        [RECORD_UPDATE] = replay_message,
        [RECORD_FORGET] = replay_forget,
        [RECORD_QUEUE_FACTS] = replay_queue_facts,
        [RECORD_QUEUE_NAME] = replay_queue_name,
        [RECORD_KEEP] = replay_keep,
        [RECORD_MARK] = replay_mark,
    };
    struct record record;
    if (!record_decode(bytes, &record) || (record.queue == 0 && record.kind != RECORD_KEEP) ||
        (record.kind != RECORD_QUEUE_NAME && record.queue > self->front.tables.queue_count))
        return not_ours(position, err);
    struct replayed replayed = {.self = self,
                                .position = position,
                                .record = &record,
                                .now = clock_now(self->options.clock),
                                .err = err};
    return replay[record.kind](&replayed);
}

struct replay_state {
    struct sqlite_store *self;
    struct err *err;
};

static enum status replay_one(void *arg, uint64_t position, struct bytes record) {
    struct replay_state *state = arg;
    return recover_record(state->self, position, record, state->err);
}

enum status recover_all(struct sqlite_store *self, struct err *err) {
    uint64_t position = 0;
    enum status status = recover_file(self, &position, err);
    if (status != STATUS_OK)
        return status;
    struct journal_options options = {
        .disk = self->options.disk,
        .dir = self->dir,
        .segment_bytes = self->options.journal_segment_bytes,
        .max_bytes = self->options.journal_max_bytes ? self->options.journal_max_bytes
                                                     : JOURNAL_BYTES_DEFAULT,
    };
    if (self->options.threads && getrandom(&options.salt, sizeof options.salt, 0) < 0)
        return err_set(err, STATUS_IO, "the system has no randomness");
    options.keep_bytes = options.max_bytes / JOURNAL_KEEP_SHARE;
    struct replay_state state = {.self = self, .err = err};
    status = journal_open(&options, position, replay_one, &state, &self->journal, err);
    if (status == STATUS_OK) /* what an earlier life folded and did not live to use again */
        status = journal_recycle(self->journal, position, err);
    if (status == STATUS_OK) {
        self->folded_end = self->sealed_end = position;
        self->applied_end = journal_end(self->journal);
        paging_drop(self);
        if (self->applied_end != self->folded_end)
            self->fold_due = clock_now(self->options.clock).mono;
    }
    return status;
}
