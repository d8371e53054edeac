/* What `impound doctor` does with the embedded store. It looks at each half alone: the journal by
 * its checksums, the file by SQLite's own check and by a recount.
 *
 * Repair brings every whole record that the file has not seen into the file, then sets the journal
 * aside. Each step can be cut short and made again: the file's position moves past the salvaged
 * records in the transaction that holds them, and goes back to 0 only when the journal is empty. */
#include "store/sqlite/sqlite_store.h"

#include <stdlib.h>
#include <string.h>

#include "store/keeps.h"
#include "store/mark.h"
#include "base/memory.h"
#include "store/record.h"
#include "store/sqlite/counters.h"
#include "store/sqlite/database.h"
#include "store/sqlite/journal.h"
#include "store/sqlite/keep_rows.h"
#include "store/sqlite/lock.h"
#include "store/sqlite/packs_check.h"
#include "store/sqlite/rows.h"

enum { SEGMENTS_MAX = 4096 };

static const char damaged[] = ".damaged";

struct doctor {
    const struct sqlite_store_options *options;
    struct buf dir;
    struct journal_options journal;
    struct database file;
    struct packs *packs;
    uint64_t *unreadable; /* numbers of the rows whose bytes are not whole */
    size_t unreadable_count;
    int lock_file;
    struct buf *report;
    uint64_t position; /* the file has seen the journal up to here */
    uint64_t records;  /* whole ones behind it */
    uint64_t behind;   /* the position behind the last of them */
    uint64_t salvaged, lost;
    uint64_t kept; /* texts in the file */
    struct error_texts texts;
    enum status status; /* of salvaging */
    struct err err;
    bool wrong;
    bool malformed; /* the file's pages: nothing is to be written there any more */
    bool holes;     /* the journal has places that cannot be read, or is not all there */
};

/* ---- looking ---- */

static void count_record(void *arg, uint64_t position, struct bytes bytes) {
    struct doctor *doctor = arg;
    struct record record;
    if (position < doctor->position)
        return;
    doctor->records++;
    doctor->behind = position + 1;
    if (!record_decode(bytes, &record)) {
        buf_printf(doctor->report, "journal record at %llu: not one of ours\n",
                   (unsigned long long)position);
        doctor->wrong = true;
    }
}

static enum status look_at_journal(struct doctor *doctor, struct err *err) {
    enum status status =
        journal_verify(&doctor->journal, doctor->report, count_record, doctor, err);
    doctor->holes = status == STATUS_CORRUPT;
    doctor->wrong |= doctor->holes;
    return status == STATUS_CORRUPT ? STATUS_OK : status;
}

static enum status look_at_pages(struct doctor *doctor, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(doctor->file.db, "PRAGMA integrity_check", -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(doctor->file.db, "integrity_check", err);
    enum status status = STATUS_OK;
    while (database_next(&doctor->file, stmt, &status, err)) {
        struct bytes line = database_text(stmt, 0);
        if (bytes_is(line, "ok"))
            continue;
        buf_printf(doctor->report, "SQLite file: %.*s\n", BYTES_ARG(line));
        doctor->malformed = true;
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum status malformed(const struct doctor *doctor, struct err *err) {
    return err_set(err, STATUS_CORRUPT,
                   "the SQLite file %s is malformed, which repair does not mend: put a copy of it "
                   "back, and the journal brings it up to date; or move it away and run `impound "
                   "doctor --repair`, which makes a new one of what the journal still holds",
                   doctor->options->path);
}

static enum status ask_number(struct doctor *doctor, const char *sql, uint64_t *out,
                              struct err *err) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(doctor->file.db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(doctor->file.db, sql, err);
    enum status status = STATUS_OK;
    while (database_next(&doctor->file, stmt, &status, err))
        *out = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return status;
}

static void note_unreadable(void *arg, uint64_t seq, const char *why) {
    struct doctor *doctor = arg;
    buf_printf(doctor->report, "message %llu: %s\n", (unsigned long long)seq, why);
    doctor->unreadable = memory_grow(doctor->unreadable,
                                     (doctor->unreadable_count + 1) * sizeof *doctor->unreadable);
    doctor->unreadable[doctor->unreadable_count++] = seq;
    doctor->wrong = true;
}

static enum status look_at_packs(struct doctor *doctor, struct err *err) {
    size_t told = doctor->report->len;
    struct packs_options options = {.disk = doctor->options->disk,
                                    .dir = doctor->journal.dir,
                                    .pack_bytes = doctor->options->pack_bytes,
                                    .report = doctor->report};
    enum status status = packs_open(&options, &doctor->file, &doctor->packs, err);
    doctor->file.packs = doctor->packs;
    doctor->wrong |= doctor->report->len != told;
    if (status == STATUS_OK)
        status = packs_check(doctor->packs, &doctor->file, note_unreadable, doctor, err);
    return status;
}

static enum status look_at_file(struct doctor *doctor, struct err *err) {
    size_t wrong = 0;
    enum status status = database_meta(&doctor->file, "journal_position", &doctor->position, err);
    if (status == STATUS_OK)
        status = look_at_pages(doctor, err);
    if (status == STATUS_OK && !doctor->malformed)
        status = look_at_packs(doctor, err);
    if (status == STATUS_OK && !doctor->malformed)
        status = counters_verify(&doctor->file, doctor->report, &wrong, err);
    if (status == STATUS_OK && !doctor->malformed)
        status = ask_number(doctor, "SELECT count(*) FROM kept", &doctor->kept, err);
    doctor->wrong |= wrong > 0;
    doctor->malformed |= status == STATUS_CORRUPT;
    return doctor->malformed ? malformed(doctor, err) : status;
}

/* A journal whose records all stand before the file's position, or that is empty, is fine; one that
 * recovery cannot find its place in is not, and only opening it tells. */
static enum status replay_nothing(void *arg, uint64_t position, struct bytes record) {
    (void)arg;
    (void)position;
    (void)record;
    return STATUS_OK;
}

static enum status look_at_position(struct doctor *doctor) {
    if (doctor->wrong)
        return STATUS_OK;
    struct journal *journal = NULL;
    struct err err;
    enum status status =
        journal_open(&doctor->journal, doctor->position, replay_nothing, NULL, &journal, &err);
    if (status == STATUS_OK) {
        journal_close(journal);
    } else {
        buf_printf(doctor->report, "journal position %llu: %s\n",
                   (unsigned long long)doctor->position, err.text);
        doctor->wrong = doctor->holes = true;
    }
    return STATUS_OK;
}

/* ---- repairing ---- */

static enum status salvage_message(struct doctor *doctor, const struct record *record) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct row_facts old;
    bool found = false;
    enum status status =
        rows_by_seq(&doctor->file, record->seq, &arena, &old, &found, &doctor->err);
    arena_free(&arena);
    if (status != STATUS_OK)
        return status;
    if (!found && !record->body.ptr) {
        buf_printf(doctor->report, "message %llu: a change without the message itself; lost\n",
                   (unsigned long long)record->seq);
        doctor->lost++;
        return STATUS_OK;
    }
    return rows_write(&doctor->file, &doctor->texts,
                      &(struct row){.seq = record->seq,
                                    .queue = record->queue,
                                    .envelope = record->text,
                                    .body = record->body},
                      &doctor->err);
}

static enum status salvage_queue(struct doctor *doctor, const struct record *record) {
    sqlite3_stmt *stmt = NULL;
    const char *sql = record->kind == RECORD_QUEUE_NAME
                          ? "INSERT INTO queues VALUES (?1, ?2, NULL)"
                            " ON CONFLICT DO UPDATE SET name = ?2"
                          : "UPDATE queues SET facts = ?2 WHERE number = ?1";
    if (sqlite3_prepare_v2(doctor->file.db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(doctor->file.db, sql, &doctor->err);
    sqlite3_bind_int64(stmt, 1, record->queue);
    database_bind_text(stmt, 2, record->text);
    enum status status = database_step(&doctor->file, stmt, &doctor->err);
    sqlite3_finalize(stmt);
    return status;
}

static enum status salvage_mark(struct doctor *doctor, const struct record *record) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct row_facts old;
    struct mark before, mark;
    bool found = false;
    enum status status =
        rows_by_seq(&doctor->file, record->seq, &arena, &old, &found, &doctor->err);
    if (status == STATUS_OK && found && mark_decode(record->text, &arena, &mark)) {
        if (old.mark.ptr && mark_decode(old.mark, &arena, &before))
            mark = mark_merge(&before, &mark);
        struct blob *text = mark_encode(&mark);
        status = rows_mark(&doctor->file, record->seq, (struct bytes){text->data, text->len},
                           &doctor->err);
        blob_free(text);
    } else if (status == STATUS_OK) {
        doctor->lost++;
    }
    arena_free(&arena);
    return status;
}

static enum status salvage_keep(struct doctor *doctor, const struct record *record) {
    struct store_keep keep;
    if (keeps_decode(record, &keep))
        return keep_rows_set(&doctor->file, record->queue, &keep, &doctor->err);
    doctor->lost++;
    return STATUS_OK;
}

static enum status salvage_forget(struct doctor *doctor, const struct record *record) {
    return rows_delete(&doctor->file, &doctor->texts, record->seq, &doctor->err);
}

static void salvage_record(void *arg, uint64_t position, struct bytes bytes) {
    static enum status (*const one[])(struct doctor *, const struct record *) = {
        [RECORD_PUT] = salvage_message,      [RECORD_UPDATE] = salvage_message,
        [RECORD_FORGET] = salvage_forget,    [RECORD_QUEUE_FACTS] = salvage_queue,
        [RECORD_QUEUE_NAME] = salvage_queue, [RECORD_KEEP] = salvage_keep,
        [RECORD_MARK] = salvage_mark,
    };
    struct doctor *doctor = arg;
    struct record record;
    if (doctor->status != STATUS_OK || position < doctor->position)
        return;
    if (!record_decode(bytes, &record)) {
        doctor->lost++;
        return;
    }
    doctor->status = one[record.kind](doctor, &record);
    doctor->salvaged++;
}

static enum status next_seq(struct doctor *doctor, uint64_t *out, struct err *err) {
    uint64_t seen = 0;
    enum status status = database_meta(&doctor->file, "next_seq", out, err);
    if (status == STATUS_OK)
        status = ask_number(doctor, "SELECT ifnull(max(seq), 0) + 1 FROM messages", &seen, err);
    *out = seen > *out ? seen : *out;
    return status;
}

/* Those that the journal has not brought back by now. A pack that is gone is nobody's any more. */
static enum status forget_unreadable(struct doctor *doctor, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < doctor->unreadable_count; i++) {
        struct arena arena;
        struct row row;
        bool found;
        arena_init_heap(&arena, 4096);
        if (rows_read(&doctor->file, doctor->unreadable[i], &arena, &row, &found, NULL) !=
            STATUS_OK) {
            status = rows_delete(&doctor->file, &doctor->texts, doctor->unreadable[i], err);
            doctor->lost++;
        }
        arena_free(&arena);
    }
    return status;
}

static enum status salvage(struct doctor *doctor, struct err *err) {
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
    status = forget_unreadable(doctor, err);
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

static enum status salvage_at_once(struct doctor *doctor, struct err *err) {
    enum status status = database_run(doctor->file.db, "BEGIN IMMEDIATE", err);
    if (status != STATUS_OK)
        return status;
    status = salvage(doctor, err);
    if (status == STATUS_OK)
        status = database_run(doctor->file.db, "COMMIT", err);
    if (status != STATUS_OK)
        database_run(doctor->file.db, "ROLLBACK", NULL);
    packs_settle(doctor->packs, status == STATUS_OK);
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

static enum status repair_all(struct doctor *doctor, struct err *err) {
    enum status status = salvage_at_once(doctor, err);
    if (status == STATUS_OK)
        status = set_aside(doctor, err);
    if (status == STATUS_OK)
        buf_printf(doctor->report,
                   "repaired: %llu changes salvaged, %llu lost%s; the old journal stays beside the "
                   "new one as *.damaged\n",
                   (unsigned long long)doctor->salvaged, (unsigned long long)doctor->lost,
                   doctor->holes ? ", and whatever stood where the journal cannot be read" : "");
    return status;
}

/* ---- both ---- */

static enum status examine(struct doctor *doctor, bool repair, struct err *err) {
    struct database_options options = {.path = doctor->options->path,
                                       .vfs = doctor->options->vfs,
                                       .alone = true,
                                       .checkpoint = true};
    enum status status = database_open(&options, &doctor->file, err);
    if (status != STATUS_OK) {
        buf_printf(doctor->report, "SQLite file: %s\n", err ? err->text : "it does not open");
        return status == STATUS_CORRUPT ? malformed(doctor, err) : status;
    }
    status = look_at_file(doctor, err);
    if (status == STATUS_OK)
        status = look_at_journal(doctor, err);
    if (status == STATUS_OK)
        status = look_at_position(doctor);
    if (status == STATUS_OK && doctor->wrong && repair)
        status = repair_all(doctor, err);
    else if (status == STATUS_OK && doctor->wrong)
        status = err_set(err, STATUS_CORRUPT,
                         "the store %s is damaged; `impound doctor --repair` salvages every whole "
                         "record of the journal and counts anew",
                         doctor->options->path);
    if (status == STATUS_OK && !doctor->wrong)
        buf_printf(doctor->report,
                   "the store is sound; %llu changes wait in the journal; %llu texts are kept "
                   "beside the messages\n",
                   (unsigned long long)doctor->records, (unsigned long long)doctor->kept);
    error_texts_free(&doctor->texts);
    packs_free(doctor->packs);
    free(doctor->unreadable);
    database_close(&doctor->file);
    return status;
}

enum status sqlite_store_doctor(const struct sqlite_store_options *options, bool repair,
                                struct buf *report, struct err *err) {
    struct doctor doctor = {.options = options, .report = report, .lock_file = -1};
    buf_init_heap(&doctor.dir, strlen(options->path) + sizeof ".d");
    buf_printf(&doctor.dir, "%s.d", options->path);
    doctor.journal = (struct journal_options){.disk = options->disk,
                                              .dir = buf_cstr(&doctor.dir),
                                              .segment_bytes = options->journal_segment_bytes};
    enum status status = STATUS_OK;
    if (options->threads)
        status = lock_take(options->disk, doctor.journal.dir, &doctor.lock_file, err);
    if (status == STATUS_OK)
        status = examine(&doctor, repair, err);
    lock_release(&doctor.lock_file);
    buf_free(&doctor.dir);
    return status;
}
