/* What `impound doctor` does with the embedded store: a checkup (checkup.h), and with `repair` what
 * can be mended is (salvage.h, and rebuild.h for a SQLite file that is lost or malformed). */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/checkup.h"
#include "store/sqlite/lock.h"
#include "store/sqlite/packs.h"
#include "store/sqlite/salvage.h"

enum status doctor_ask(struct doctor *doctor, const char *sql, uint64_t *out, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(doctor->file.db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(doctor->file.db, sql, err);
    enum status status = STATUS_OK;
    while (database_next(&doctor->file, stmt, &status, err))
        *out = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return status;
}

/* ---- the file ---- */

static enum status open_file(struct doctor *doctor, struct err *err) {
    struct database_options options = {.path = doctor->options->path,
                                       .vfs = doctor->options->vfs,
                                       .alone = true,
                                       .checkpoint = true};
    struct err trouble = {0};
    enum status status = database_open(&options, &doctor->file, &trouble);
    if (status == STATUS_OK)
        return checkup_file(doctor, err);
    buf_printf(doctor->report, "SQLite file: %s\n", trouble.text);
    doctor->malformed = status == STATUS_CORRUPT;
    return err_set(err, status, "%s", trouble.text);
}

static void close_file(struct doctor *doctor) {
    packs_free(doctor->packs);
    doctor->packs = NULL;
    if (doctor->file.db)
        database_close(&doctor->file);
}

static enum status malformed(const struct doctor *doctor, struct err *err) {
    return err_set(
        err, STATUS_CORRUPT,
        "the SQLite file %s is malformed: put a copy of it back if there is one, and the "
        "journal brings it up to date; otherwise `impound doctor --repair` sets it aside "
        "and makes a new one of what the packs and the journal hold",
        doctor->options->path);
}

static enum status replace_file(struct doctor *doctor, struct err *err) {
    close_file(doctor);
    enum status status = salvage_set_file_aside(doctor, err);
    doctor->malformed = false;
    doctor->replaced = doctor->wrong = true;
    doctor->position = doctor->unreadable_count = 0;
    return status == STATUS_OK ? open_file(doctor, err) : status;
}

/* ---- all of it ---- */

static enum status conclude(struct doctor *doctor, struct err *err) {
    if (doctor->wrong && doctor->repair)
        return salvage_all(doctor, err);
    if (doctor->wrong)
        return err_set(err, STATUS_CORRUPT,
                       "the store %s is damaged; `impound doctor --repair` salvages every whole "
                       "record of the journal and the packs and counts anew",
                       doctor->options->path);
    buf_printf(doctor->report,
               "the store is sound; %llu changes wait in the journal; %llu texts are kept "
               "beside the messages\n",
               (unsigned long long)doctor->records, (unsigned long long)doctor->kept);
    return STATUS_OK;
}

static enum status examine(struct doctor *doctor, struct err *err) {
    enum status status = open_file(doctor, err);
    if (doctor->malformed)
        status = doctor->repair ? replace_file(doctor, err) : malformed(doctor, err);
    if (status == STATUS_OK)
        status = checkup_journal(doctor, err);
    if (status == STATUS_OK)
        status = checkup_position(doctor);
    if (status == STATUS_OK)
        status = conclude(doctor, err);
    error_texts_free(&doctor->texts);
    free(doctor->unreadable);
    free(doctor->missing);
    free(doctor->pack_numbers);
    close_file(doctor);
    return status;
}

enum status sqlite_store_doctor(const struct sqlite_store_options *options, bool repair,
                                struct buf *report, struct err *err) {
    struct doctor doctor = {
        .options = options, .report = report, .repair = repair, .lock_file = -1};
    buf_init_heap(&doctor.dir, strlen(options->path) + sizeof ".d");
    buf_printf(&doctor.dir, "%s.d", options->path);
    doctor.journal = (struct journal_options){.disk = options->disk,
                                              .dir = buf_cstr(&doctor.dir),
                                              .segment_bytes = options->journal_segment_bytes};
    enum status status = STATUS_OK;
    if (options->threads)
        status = lock_take(options->disk, doctor.journal.dir, &doctor.lock_file, err);
    if (status == STATUS_OK)
        status = examine(&doctor, err);
    lock_release(&doctor.lock_file);
    buf_free(&doctor.dir);
    return status;
}
