#include "store/embedded/doctor/mend_tables.h"

#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/doctor/rebuild.h"

/* The limits of bounds.h. */
#define COUNTS     " BETWEEN 0 AND 9007199254740992"
#define TIMES      " BETWEEN -9007199254740992 AND 9007199254740992"
#define SEQS       " BETWEEN 0 AND 4611686018427387904"
#define HIGHEST    "(SELECT ifnull(max(queue), 0) FROM messages WHERE queue <= 10000)"
/* The most by which the number of a queue without messages may exceed HIGHEST. */
#define GAP        "1024"
#define IS_NAMED   "ifnull(dlq, '') <> ''"
#define IS_WHOLE   "typeof(count) = 'integer' AND count" COUNTS
#define HAS_TOTAL  "typeof(total) = 'integer' AND total" COUNTS
#define HAS_TIMES  "typeof(first_ms + last_ms) = 'integer' AND first_ms" TIMES " AND last_ms" TIMES
#define HAS_PRINT  "length(fingerprint) = 16 AND fingerprint NOT GLOB '*[^0-9a-f]*'"
#define HAS_SAMPLE "typeof(sample) = 'integer' AND sample" SEQS

/* The facts of a queue are saved by name, and are restored when its number is known again. */
static const char drop[] =
    "CREATE TEMP TABLE queues_known (name TEXT PRIMARY KEY, facts TEXT);"
    "INSERT OR IGNORE INTO queues_known SELECT name, facts FROM queues WHERE name <> '';"
    "DELETE FROM queues WHERE number NOT BETWEEN 1 AND 10000 OR ifnull(name, '') = ''"
    " OR number > " GAP " + " HIGHEST ";"
    "DELETE FROM queues WHERE number > (SELECT min(number) FROM queues AS other"
    " WHERE other.name = queues.name);"
    "DELETE FROM counters WHERE (" IS_NAMED " AND " IS_WHOLE ") IS NOT TRUE;"
    "DELETE FROM groups WHERE (" IS_NAMED " AND " IS_WHOLE " AND " HAS_TOTAL " AND " HAS_TIMES
    " AND " HAS_PRINT " AND " HAS_SAMPLE ") IS NOT TRUE;"
    "DELETE FROM meta WHERE (typeof(value) = 'integer' AND value" SEQS ") IS NOT TRUE;";

enum status mend_tables_packs(struct doctor *doctor, struct err *err) {
    enum status status = database_run(doctor->file.db, "DELETE FROM packs", err);
    return status == STATUS_OK ? rebuild_register(doctor, err) : status;
}

enum status mend_tables(struct doctor *doctor, struct err *err) {
    return database_run(doctor->file.db, drop, err);
}

/* ---- queues ---- */

static enum status find(struct doctor *doctor, struct bytes name, uint32_t *out, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_QUEUE_NUMBER);
    database_bind_text(stmt, 1, name);
    *out = 0;
    while (database_next(&doctor->file, stmt, &status, err))
        *out = (uint32_t)sqlite3_column_int64(stmt, 0);
    return status;
}

static enum status is_free(struct doctor *doctor, uint32_t number, bool *out, struct err *err) {
    enum status status = STATUS_OK;
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_QUEUE_NAMED);
    sqlite3_bind_int64(stmt, 1, number);
    *out = number > 0 && number <= BOUNDS_QUEUES_MAX;
    while (database_next(&doctor->file, stmt, &status, err))
        *out = false;
    return status;
}

static enum status add(struct doctor *doctor, struct bytes name, uint32_t number, struct err *err) {
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_QUEUE_NAME);
    sqlite3_bind_int64(stmt, 1, number);
    database_bind_text(stmt, 2, name);
    enum status status = database_step(&doctor->file, stmt, err);
    return status == STATUS_OK
               ? database_run(doctor->file.db,
                              "UPDATE queues SET facts = (SELECT facts FROM queues_known AS old"
                              " WHERE old.name = queues.name) WHERE facts IS NULL",
                              err)
               : status;
}

enum status mend_tables_queue(struct doctor *doctor, struct bytes name, uint32_t number,
                              uint32_t *out, struct err *err) {
    enum status status = find(doctor, name, out, err);
    if (status != STATUS_OK || *out != 0)
        return status;
    bool usable;
    uint64_t highest = 0;
    status = is_free(doctor, number, &usable, err);
    if (status == STATUS_OK && !usable) {
        status = doctor_ask(doctor,
                            "SELECT max(ifnull((SELECT max(number) FROM queues), 0),"
                            " ifnull((SELECT max(queue) FROM messages WHERE queue <= 10000), 0))",
                            &highest, err);
        number = (uint32_t)highest + 1;
    }
    *out = number;
    return status == STATUS_OK ? add(doctor, name, number, err) : status;
}
