#include "store/embedded/recover.h"

#include <sys/random.h>

#include "base/log.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/sqlite/fold/changes.h"
#include "store/embedded/journal/journal_embedded.h"
#include "store/embedded/sqlite/load_tables.h"
#include "store/embedded/doctor/lost.h"
#include "store/embedded/pages/paging.h"
#include "store/embedded/sqlite/rows.h"

/* ---- the file ---- */

/* Otherwise a new message would get the seq of a held one. */
static enum status check_next_seq(struct sqlite_store *self, uint64_t next_seq, struct err *err) {
    sqlite3_stmt *stmt = database_statement(self->fold_db, SQL_SEQ_MAX);
    enum status status = STATUS_OK;
    int64_t highest = 0;
    while (database_next(self->fold_db, stmt, &status, err))
        highest = sqlite3_column_int64(stmt, 0);
    if (status != STATUS_OK)
        return status;
    if (next_seq > BOUNDS_SEQ_MAX || highest < 0 || (uint64_t)highest >= BOUNDS_SEQ_MAX ||
        (highest > 0 && next_seq <= (uint64_t)highest))
        return err_set(
            err, STATUS_CORRUPT,
            "the SQLite file, table meta, row \"next_seq\": %llu, but message %lld is held",
            (unsigned long long)next_seq, (long long)highest);
    return STATUS_OK;
}

enum status recover_file(struct sqlite_store *self, uint64_t *position, struct err *err) {
    struct instant now = clock_now(self->options.clock);
    uint64_t next_seq = 0;
    enum status status = database_prepare_all(self->fold_db, err);
    if (status == STATUS_OK)
        status = database_meta(self->fold_db, "journal_position", position, err);
    if (status == STATUS_OK)
        status = database_meta(self->fold_db, "next_seq", &next_seq, err);
    if (status == STATUS_OK)
        status = check_next_seq(self, next_seq, err);
    if (status == STATUS_OK)
        status = lost_check(self->options.disk, self->dir, next_seq, err);
    if (status != STATUS_OK)
        return status;
    if (next_seq > self->front.tables.next_seq)
        self->front.tables.next_seq = next_seq;
    status = load_tables(self, err);
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
    const struct journal_record *record;
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
    struct entry_facts facts;
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
        dlq_counters_spilled(&self->front.tables.dlqs,
                             name_table_get(&self->front.tables.names, replayed->record->text));
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
    const struct journal_record *record = replayed->record;
    if (record->queue > BOUNDS_QUEUES_MAX || record->text.len == 0)
        return not_ours(replayed->position, replayed->err);
    tables_queue_restore(&replayed->self->front.tables, record->queue, record->text)->changed =
        true;
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
    struct notes_decoded decoded;
    struct store_keep *keep = &decoded.keep;
    if (!notes_decode(replayed->record, &decoded))
        return not_ours(replayed->position, replayed->err);
    struct blob *value = keep->value.ptr ? blob_of(keep->value) : NULL;
    if (value)
        keep->value.ptr = value->data;
    notes_set(&replayed->self->front.tables.keeps, replayed->record->queue, keep, value);
    blob_free(value);
    return STATUS_OK;
}

/* True if its queue is known, and its seq is in the range of messages. For a note that field is a
 * time. */
static bool is_plausible(const struct sqlite_store *self, const struct journal_record *record) {
    const struct tables *tables = &self->front.tables;
    if (record->kind == JOURNAL_RECORD_QUEUE_NAME)
        return record->queue > 0;
    if (record->queue > tables->queue_count)
        return false;
    if (record->kind == JOURNAL_RECORD_KEEP)
        return true;
    return record->queue > 0 && tables->queues[record->queue - 1]->name &&
           record->seq < BOUNDS_SEQ_MAX;
}

enum status recover_record(struct sqlite_store *self, uint64_t position, struct bytes bytes,
                           struct err *err) {
    static enum status (*const replay[])(struct replayed *) = {
        [JOURNAL_RECORD_PUT] = replay_message,
        [JOURNAL_RECORD_UPDATE] = replay_message,
        [JOURNAL_RECORD_FORGET] = replay_forget,
        [JOURNAL_RECORD_QUEUE_FACTS] = replay_queue_facts,
        [JOURNAL_RECORD_QUEUE_NAME] = replay_queue_name,
        [JOURNAL_RECORD_KEEP] = replay_keep,
        [JOURNAL_RECORD_MARK] = replay_mark,
    };
    struct journal_record record;
    if (!journal_record_decode(bytes, &record) || !is_plausible(self, &record))
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
        .between_groups = true, /* a fold always ends at the end of a group */
        .max_bytes = self->options.journal_max_bytes ? self->options.journal_max_bytes
                                                     : JOURNAL_BYTES_DEFAULT,
    };
    if (self->options.threads && getrandom(&options.salt, sizeof options.salt, 0) < 0)
        return err_set(err, STATUS_IO, "the system has no randomness");
    options.keep_bytes = self->on_trial ? 0 : options.max_bytes / JOURNAL_KEEP_SHARE;
    struct replay_state state = {.self = self, .err = err};
    if (!self->journal)
        self->journal = journal_embedded_new(&options);
    const struct journal_vtable *journal = self->journal->vtable;
    status = journal->replay(self->journal, position, replay_one, &state, err);
    if (status == STATUS_OK) /* a crash may have come between a fold and the drop of its records */
        status = journal->drop(self->journal, position, err);
    if (status == STATUS_OK) {
        self->folded_end = self->sealed_end = position;
        self->applied_end = journal->end(self->journal);
        paging_drop(self);
        if (self->applied_end != self->folded_end)
            self->fold_due = clock_now(self->options.clock).mono;
    }
    return status;
}
