#include "store/embedded/doctor/verify.h"

#include "store/tables/journal_record.h"
#include "store/embedded/sqlite/fold/counters.h"
#include "store/embedded/doctor/mend_tables.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/doctor/rebuild.h"
#include "store/embedded/sqlite/rows_verify.h"

static void count_record(void *arg, uint64_t position, struct bytes bytes) {
    struct doctor *doctor = arg;
    struct journal_record record;
    if (position < doctor->position)
        return;
    doctor->records++;
    doctor->behind = position + 1;
    if (!journal_record_decode(bytes, &record)) {
        buf_printf(doctor->report, "journal record at %llu: not one of ours\n",
                   (unsigned long long)position);
        doctor->wrong = true;
    }
}

enum status verify_journal(struct doctor *doctor, struct err *err) {
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

static void note_unreadable(void *arg, uint64_t seq, const char *why) {
    struct doctor *doctor = arg;
    buf_printf(doctor->report, "message %llu: %s\n", (unsigned long long)seq, why);
    doctor_note_unreadable(doctor, seq);
    doctor->wrong = true;
}

static enum status look_at_packs(struct doctor *doctor, struct err *err) {
    size_t told = doctor->report->len;
    struct packs_options options = {.disk = doctor->options->disk,
                                    .dir = doctor->journal.dir,
                                    .pack_bytes = doctor->options->pack_bytes,
                                    .report = doctor->report};
    enum status status = packs_open(&options, &doctor->file, &doctor->packs, err);
    bool wrong = doctor->report->len != told;
    if (status == STATUS_OK && wrong && doctor->repair) {
        packs_free(doctor->packs);
        doctor->packs = NULL;
        status = mend_tables_packs(doctor, err);
        if (status == STATUS_OK)
            status = packs_open(&options, &doctor->file, &doctor->packs, err);
    }
    doctor->file.packs = doctor->packs;
    doctor->wrong |= wrong;
    if (status == STATUS_OK)
        status = rows_verify(&doctor->file, note_unreadable, doctor, err);
    return status;
}

/* Sets `gone` if the SQLite file is a new one in the place of a lost one (lost.h), and reports it.
 */
static enum status look_whether_lost(struct doctor *doctor, struct err *err) {
    uint64_t next_seq = 0;
    enum status status = database_meta(&doctor->file, "next_seq", &next_seq, err);
    if (status == STATUS_OK)
        status = lost_list(doctor->options->disk, doctor->journal.dir, &doctor->files, err);
    doctor->gone = doctor->replaced || lost_is(&doctor->files, next_seq);
    if (status != STATUS_OK || !doctor->gone)
        return status;
    buf_printf(
        doctor->report,
        "SQLite file: it has no record of the %zu packs and %zu journal segments beside it\n",
        doctor->files.pack_count, doctor->files.segment_count);
    doctor->wrong = true;
    return doctor->repair ? mend_tables_packs(doctor, err) : STATUS_OK;
}

static enum status look_at_rows(struct doctor *doctor, struct err *err) {
    size_t wrong = 0;
    enum status status = look_whether_lost(doctor, err);
    if (status == STATUS_OK)
        status = look_at_packs(doctor, err);
    if (status == STATUS_OK && !doctor->gone)
        status = counters_verify(&doctor->file, doctor->report, &wrong, err);
    if (status == STATUS_OK)
        status = doctor_ask(doctor, "SELECT count(*) FROM kept", &doctor->kept, err);
    doctor->wrong |= wrong > 0;
    return status;
}

enum status verify_file(struct doctor *doctor, struct err *err) {
    enum status status = database_meta(&doctor->file, "journal_position", &doctor->position, err);
    if (status == STATUS_OK)
        status = look_at_pages(doctor, err);
    if (status == STATUS_OK && !doctor->malformed)
        status = look_at_rows(doctor, err);
    doctor->malformed |= status == STATUS_CORRUPT;
    return doctor->malformed ? STATUS_CORRUPT : status;
}
