/* store_doctor: `impound doctor` on the embedded store. It verifies the store (verify.h); with
 * `repair` it recovers the journal (recover_journal.h), and rebuilds a SQLite file that is lost or
 * malformed (rebuild.h). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/doctor/verify.h"
#include "store/embedded/store_lock.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/doctor/recover_journal.h"
#include "store/embedded/sqlite/schema.h"

void doctor_note_unreadable(struct doctor *doctor, uint64_t seq) {
    doctor->unreadable = memory_grow(doctor->unreadable,
                                     (doctor->unreadable_count + 1) * sizeof *doctor->unreadable);
    doctor->unreadable[doctor->unreadable_count++] = seq;
}

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

/* ---- the SQLite file ---- */

static enum status check_schema(struct doctor *doctor, struct err *err) {
    enum status status = database_prepare_all(&doctor->file, err);
    if (status != STATUS_CORRUPT || !doctor->repair)
        return status;
    buf_printf(doctor->report, "%s; made again\n", err->text);
    doctor->wrong = true;
    status = schema_mend(doctor->file.db, err);
    return status == STATUS_OK ? database_prepare_all(&doctor->file, err) : STATUS_CORRUPT;
}

static enum status open_file(struct doctor *doctor, struct err *err) {
    struct database_options options = {.path = doctor->options->path,
                                       .vfs = doctor->options->vfs,
                                       .alone = true,
                                       .checkpoint = true};
    struct err trouble = {0};
    enum status status = database_open(&options, &doctor->file, &trouble);
    if (status == STATUS_OK)
        status = check_schema(doctor, &trouble);
    if (status == STATUS_OK)
        return verify_file(doctor, err);
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
    enum status status = recover_journal_set_file_aside(doctor, err);
    doctor->malformed = false;
    doctor->replaced = doctor->wrong = true;
    doctor->position = doctor->unreadable_count = 0;
    return status == STATUS_OK ? open_file(doctor, err) : status;
}

/* ---- the whole store ---- */

static void forget_findings(struct doctor *doctor) {
    error_texts_free(&doctor->texts);
    free(doctor->unreadable);
    free(doctor->missing);
    free(doctor->files.packs);
    close_file(doctor);
    *doctor = (struct doctor){.options = doctor->options,
                              .report = doctor->report,
                              .repair = doctor->repair,
                              .lock_file = doctor->lock_file,
                              .dir = doctor->dir,
                              .journal = doctor->journal};
}

struct findings {
    bool wrong;       /* something is or was damaged */
    uint64_t records; /* of the journal, not folded yet */
    uint64_t kept;    /* number of notes */
};

/* Checks, and with `repair` repairs the store; with `forced` also damage that only sqlite_store_try
 * found. */
static enum status examine(struct doctor *doctor, bool forced, struct findings *out,
                           struct err *err) {
    enum status status = open_file(doctor, err);
    bool is_malformed = doctor->malformed;
    if (is_malformed && doctor->repair)
        status = replace_file(doctor, err);
    else if (is_malformed)
        status = STATUS_OK;
    if (status == STATUS_OK)
        status = verify_journal(doctor, err);
    doctor->wrong |= is_malformed || forced;
    *out = (struct findings){doctor->wrong, doctor->records, doctor->kept};
    if (status == STATUS_OK && doctor->wrong && doctor->repair)
        status = recover_journal_all(doctor, err);
    if (status == STATUS_OK && is_malformed && !doctor->repair)
        status = malformed(doctor, err);
    forget_findings(doctor);
    return status;
}

static enum status damaged(const struct doctor *doctor, struct err *err) {
    return err_set(err, STATUS_CORRUPT,
                   "the store %s is damaged; `impound doctor --repair` salvages every whole record "
                   "of the journal and the packs and counts anew",
                   doctor->options->path);
}

/* Runs the recovery of a server's start, because only that shows whether a server can start. */
enum trial { TRIAL_SOUND, TRIAL_DAMAGED, TRIAL_REFUSED };

static enum trial serves(struct doctor *doctor, bool wrong) {
    struct err refusal;
    struct sqlite_store_trial trial = {.report = doctor->report};
    if (sqlite_store_try(doctor->options, &trial, &refusal) != STATUS_OK) {
        buf_printf(doctor->report, "serve refuses to start: %s\n", refusal.text);
        return TRIAL_REFUSED;
    }
    if (trial.orphans > 0)
        buf_printf(doctor->report,
                   "%llu files in %s.large belong to no message; serve removes them when it "
                   "starts\n",
                   (unsigned long long)trial.orphans, doctor->options->path);
    if (!wrong && trial.damaged == 0)
        return TRIAL_SOUND;
    buf_printf(doctor->report, "serve starts with this damage\n");
    return TRIAL_DAMAGED;
}

static void say_sound(struct doctor *doctor, const struct findings *findings) {
    if (findings->wrong)
        buf_printf(doctor->report, "the store is sound now\n");
    else
        buf_printf(doctor->report,
                   "the store is sound; %llu changes wait in the journal; %llu texts are kept "
                   "beside the messages\n",
                   (unsigned long long)findings->records, (unsigned long long)findings->kept);
}

static enum status look(struct doctor *doctor, struct err *err) {
    struct findings findings = {0};
    enum status status = examine(doctor, false, &findings, err);
    if (status != STATUS_OK && status != STATUS_CORRUPT)
        return status;
    bool wrong = findings.wrong || status != STATUS_OK;
    if (serves(doctor, wrong) != TRIAL_SOUND)
        return status == STATUS_OK ? damaged(doctor, err) : status;
    say_sound(doctor, &findings);
    return STATUS_OK;
}

static enum status repair(struct doctor *doctor, struct err *err) {
    struct findings findings = {0};
    enum status status = examine(doctor, false, &findings, err);
    if (status == STATUS_OK && !findings.wrong && serves(doctor, false) != TRIAL_SOUND)
        status = examine(doctor, true, &findings, err);
    if (status != STATUS_OK)
        return status;
    if (findings.wrong && serves(doctor, false) != TRIAL_SOUND)
        return err_set(
            err, STATUS_CORRUPT,
            "the store %s could not be repaired: a server still refuses to start with it",
            doctor->options->path);
    say_sound(doctor, &findings);
    return STATUS_OK;
}

enum status sqlite_store_doctor(const struct sqlite_store_options *options, bool repair_it,
                                struct buf *report, struct err *err) {
    struct doctor doctor = {
        .options = options, .report = report, .repair = repair_it, .lock_file = -1};
    buf_init_heap(&doctor.dir, strlen(options->path) + sizeof ".d");
    buf_printf(&doctor.dir, "%s.d", options->path);
    doctor.journal = (struct journal_options){.disk = options->disk,
                                              .dir = buf_cstr(&doctor.dir),
                                              .segment_bytes = options->journal_segment_bytes};
    enum status status = STATUS_OK;
    if (options->threads)
        status = store_lock_take(options->disk, doctor.journal.dir, &doctor.lock_file, err);
    if (status == STATUS_OK)
        status = repair_it ? repair(&doctor, err) : look(&doctor, err);
    store_lock_release(&doctor.lock_file);
    buf_free(&doctor.dir);
    return status;
}
