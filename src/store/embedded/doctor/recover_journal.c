#include "store/embedded/doctor/recover_journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/tables/notes.h"
#include "store/tables/mark.h"
#include "store/tables/journal_record.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/sqlite/fold/counters.h"
#include "store/embedded/safe_names.h"
#include "store/embedded/sqlite/note_rows.h"
#include "store/embedded/doctor/mend.h"
#include "store/embedded/doctor/mend_tables.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/doctor/rebuild.h"
#include "store/embedded/sqlite/rows.h"

enum { SEGMENTS_MAX = 4096 };

static const char damaged[] = ".damaged";

/* The message is lost, unless a later record of the journal forgets it. */
static void note_missing(struct doctor *doctor, uint64_t seq) {
    for (size_t i = 0; i < doctor->missing_count; i++) {
        if (doctor->missing[i] == seq)
            return;
    }
    doctor->missing =
        memory_grow(doctor->missing, (doctor->missing_count + 1) * sizeof *doctor->missing);
    doctor->missing[doctor->missing_count++] = seq;
}

static void forget_missing(struct doctor *doctor, uint64_t seq) {
    for (size_t i = 0; i < doctor->missing_count; i++) {
        if (doctor->missing[i] == seq)
            doctor->missing[i--] = doctor->missing[--doctor->missing_count];
    }
}

static void report_missing(struct doctor *doctor) {
    for (size_t i = 0; i < doctor->missing_count; i++)
        buf_printf(doctor->report, "message %llu: a change without the message itself; lost\n",
                   (unsigned long long)doctor->missing[i]);
    doctor->lost += doctor->missing_count;
}

/* Whether the row exists, and its mark: reads that one column, because others may be damaged. */
static enum status look_up(struct doctor *doctor, uint64_t seq, struct arena *arena, bool *found,
                           struct bytes *mark) {
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_ROW_MARKED);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *mark = BYTES_NONE;
    *found = database_next(&doctor->file, stmt, &status, &doctor->err);
    if (*found && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
        *mark = arena_dup(arena, database_text(stmt, 0));
    sqlite3_reset(stmt);
    return status;
}

static enum status salvage_message(struct doctor *doctor, const struct journal_record *record) {
    struct arena arena;
    struct bytes mark;
    bool found = false;
    arena_init_heap(&arena, 256);
    enum status status = look_up(doctor, record->seq, &arena, &found, &mark);
    arena_free(&arena);
    if (status != STATUS_OK)
        return status;
    if (!found && !record->body.ptr) {
        note_missing(doctor, record->seq);
        return STATUS_OK;
    }
    return rows_write(&doctor->file, &doctor->texts,
                      &(struct row){.seq = record->seq,
                                    .queue = record->queue,
                                    .envelope = record->text,
                                    .body = record->body},
                      &doctor->err);
}

static enum status salvage_queue(struct doctor *doctor, const struct journal_record *record) {
    sqlite3_stmt *stmt = database_statement(&doctor->file, record->kind == JOURNAL_RECORD_QUEUE_NAME
                                                               ? SQL_QUEUE_NAME
                                                               : SQL_QUEUE_FACTS);
    if (record->queue == 0 || record->queue > BOUNDS_QUEUES_MAX)
        return STATUS_OK;
    sqlite3_bind_int64(stmt, 1, record->queue);
    database_bind_text(stmt, 2, record->text);
    return database_step(&doctor->file, stmt, &doctor->err);
}

static enum status salvage_mark(struct doctor *doctor, const struct journal_record *record) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct bytes old;
    struct mark before, mark;
    bool found = false;
    enum status status = look_up(doctor, record->seq, &arena, &found, &old);
    if (status == STATUS_OK && found && mark_decode(record->text, &arena, &mark)) {
        if (old.ptr && mark_decode(old, &arena, &before))
            mark = mark_merge(&before, &mark);
        struct blob *text = mark_encode(&mark);
        status = rows_mark(&doctor->file, record->seq, &mark, (struct bytes){text->data, text->len},
                           &doctor->err);
        blob_free(text);
    } else if (status == STATUS_OK) {
        doctor->lost++;
    }
    arena_free(&arena);
    return status;
}

static enum status salvage_keep(struct doctor *doctor, const struct journal_record *record) {
    struct notes_decoded decoded;
    if (notes_decode(record, &decoded))
        return note_rows_set(&doctor->file, record->queue, &decoded.keep, &doctor->err);
    doctor->lost++;
    return STATUS_OK;
}

static enum status salvage_forget(struct doctor *doctor, const struct journal_record *record) {
    forget_missing(doctor, record->seq);
    return rows_delete(&doctor->file, &doctor->texts, &record->seq, 1, &doctor->err);
}

static int by_number(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* True if the row of the message is damaged: then every record of it that the journal still has,
 * folded or not, is applied again. Also true for the name of a queue that the file has lost. */
static bool is_wanted_again(struct doctor *doctor, const struct journal_record *record) {
    if (record->kind == JOURNAL_RECORD_QUEUE_NAME) {
        uint32_t number;
        if (record->text.len > 0 && record->queue > 0)
            doctor->status =
                mend_tables_queue(doctor, record->text, record->queue, &number, &doctor->err);
        return false;
    }
    if (record->kind == JOURNAL_RECORD_KEEP || record->kind == JOURNAL_RECORD_QUEUE_FACTS)
        return false;
    return doctor->unreadable_count > 0 &&
           bsearch(&record->seq, doctor->unreadable, doctor->unreadable_count,
                   sizeof *doctor->unreadable, by_number) != NULL;
}

static void salvage_record(void *arg, uint64_t position, struct bytes bytes) {
    static enum status (*const one[])(struct doctor *, const struct journal_record *) = {
        [JOURNAL_RECORD_PUT] = salvage_message,      [JOURNAL_RECORD_UPDATE] = salvage_message,
        [JOURNAL_RECORD_FORGET] = salvage_forget,    [JOURNAL_RECORD_QUEUE_FACTS] = salvage_queue,
        [JOURNAL_RECORD_QUEUE_NAME] = salvage_queue, [JOURNAL_RECORD_KEEP] = salvage_keep,
        [JOURNAL_RECORD_MARK] = salvage_mark,
    };
    struct doctor *doctor = arg;
    struct journal_record record;
    if (doctor->status != STATUS_OK)
        return;
    if (!journal_record_decode(bytes, &record)) {
        doctor->lost += position >= doctor->position;
        return;
    }
    if (position < doctor->position && !is_wanted_again(doctor, &record))
        return;
    if (record.kind != JOURNAL_RECORD_KEEP && record.seq < BOUNDS_SEQ_MAX &&
        record.seq > doctor->highest_seq)
        doctor->highest_seq = record.seq;
    doctor->status = one[record.kind](doctor, &record);
    doctor->salvaged++;
}

static enum status next_seq(struct doctor *doctor, uint64_t *out, struct err *err) {
    uint64_t seen = 0;
    enum status status = database_meta(&doctor->file, "next_seq", out, err);
    if (status == STATUS_OK)
        status = doctor_ask(doctor, "SELECT ifnull(max(seq), 0) + 1 FROM messages", &seen, err);
    *out = seen > *out ? seen : *out;
    *out = doctor->highest_seq >= *out ? doctor->highest_seq + 1 : *out;
    return status;
}

static enum status salvage_journal(struct doctor *doctor, struct err *err) {
    struct buf nowhere;
    buf_init_fixed(&nowhere, NULL, 0);
    enum status status = journal_verify(&doctor->journal, &nowhere, salvage_record, doctor, err);
    if (status != STATUS_OK && status != STATUS_CORRUPT)
        return status;
    if (doctor->status != STATUS_OK) {
        *err = doctor->err;
        return doctor->status;
    }
    uint64_t next = 0;
    report_missing(doctor);
    status = mend_rows(doctor, err);
    if (status == STATUS_OK)
        status = error_texts_flush(&doctor->texts, &doctor->file, err);
    if (status == STATUS_OK)
        status = packs_flush(doctor->packs, &doctor->file, err);
    if (status == STATUS_OK)
        status = counters_rebuild(&doctor->file, err);
    if (status == STATUS_OK)
        status = next_seq(doctor, &next, err);
    if (status == STATUS_OK)
        status = database_set_meta(&doctor->file, "next_seq", next, err);
    if (status == STATUS_OK && doctor->behind > doctor->position)
        status = database_set_meta(&doctor->file, "journal_position", doctor->behind, err);
    return status;
}

static enum status at_once(struct doctor *doctor, struct err *err) {
    enum status status = database_run(doctor->file.db, "BEGIN IMMEDIATE", err);
    if (status != STATUS_OK)
        return status;
    status = mend_tables(doctor, err);
    if (status == STATUS_OK && doctor->gone)
        status = rebuild_rows(doctor, err);
    if (status == STATUS_OK)
        status = salvage_journal(doctor, err);
    if (status == STATUS_OK)
        status = database_run(doctor->file.db, "COMMIT", err);
    if (status != STATUS_OK)
        database_run(doctor->file.db, "ROLLBACK", NULL);
    packs_settle(doctor->packs, &doctor->file,
                 status == STATUS_OK ? PACKS_COMMITTED : PACKS_IN_DOUBT);
    return status;
}

struct segments {
    char *names[SEGMENTS_MAX];
    size_t count;
};

static void add_segment(void *arg, const char *name) {
    struct segments *segments = arg;
    if (bytes_ends(bytes_of(name), BYTES(".seg")) && segments->count < SEGMENTS_MAX)
        segments->names[segments->count++] = bytes_dup(bytes_of(name));
}

static void put_path(struct buf *path, const struct doctor *doctor, const char *name) {
    buf_init_heap(path, doctor->dir.len + 1 + strlen(name) + sizeof damaged);
    buf_bytes(path, buf_view(&doctor->dir));
    buf_char(path, '/');
    buf_str(path, name);
}

static int set_aside_one(struct doctor *doctor, const char *name) {
    struct disk *disk = doctor->options->disk;
    struct buf from, to;
    put_path(&from, doctor, name);
    put_path(&to, doctor, name);
    buf_str(&to, damaged);
    int error = disk->vtable->rename(disk, buf_cstr(&from), buf_cstr(&to));
    buf_free(&from);
    buf_free(&to);
    return error;
}

static enum status set_aside(struct doctor *doctor, struct err *err) {
    struct disk *disk = doctor->options->disk;
    struct segments segments = {.count = 0};
    int error = disk->vtable->list(disk, doctor->journal.dir, add_segment, &segments);
    for (size_t i = 0; i < segments.count; i++) {
        if (error == 0)
            error = set_aside_one(doctor, segments.names[i]);
        free(segments.names[i]);
    }
    if (error == 0)
        error = disk->vtable->sync_dir(disk, doctor->journal.dir);
    if (error != 0)
        return err_set(err, STATUS_IO, "%s: %s", doctor->journal.dir, strerror(error));
    return database_set_meta(&doctor->file, "journal_position", 0, err);
}

enum status recover_journal_all(struct doctor *doctor, struct err *err) {
    enum status status = at_once(doctor, err);
    if (status == STATUS_OK)
        status = set_aside(doctor, err);
    if (status == STATUS_OK)
        buf_printf(doctor->report,
                   "repaired: %llu changes salvaged, %llu lost%s; %llu messages are kept without "
                   "their bodies, %llu with envelopes made again; the old journal stays beside the "
                   "new one as *.damaged\n",
                   (unsigned long long)doctor->salvaged, (unsigned long long)doctor->lost,
                   doctor->holes ? ", and whatever stood where the journal cannot be read" : "",
                   (unsigned long long)doctor->bodies_lost,
                   (unsigned long long)doctor->envelopes_lost);
    return status;
}

enum status recover_journal_set_file_aside(struct doctor *doctor, struct err *err) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    struct disk *disk = doctor->options->disk;
    const char *path = doctor->options->path;
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof endings / sizeof endings[0]; i++) {
        struct buf from, to;
        buf_init_heap(&from, strlen(path) + 8);
        buf_init_heap(&to, strlen(path) + 8 + sizeof damaged);
        buf_printf(&from, "%s%s", path, endings[i]);
        buf_printf(&to, "%s%s%s", path, damaged, endings[i]);
        error = disk->vtable->rename(disk, buf_cstr(&from), buf_cstr(&to));
        if (error == ENOENT && i > 0)
            error = 0;
        buf_free(&from);
        buf_free(&to);
    }
    if (error == 0)
        error = safe_names_sync_parent(disk, path);
    if (error != 0)
        return err_set(err, STATUS_IO, "setting %s aside: %s", path, strerror(error));
    buf_printf(doctor->report, "the malformed file is %s%s now\n", path, damaged);
    return STATUS_OK;
}
