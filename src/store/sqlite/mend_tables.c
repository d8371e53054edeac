#include "store/sqlite/mend_tables.h"

#include "store/sqlite/bounds.h"
#include "store/sqlite/packs.h"
#include "store/sqlite/rebuild.h"

#define NUMBER_MAX "9007199254740992"    /* BOUNDS_NUMBER_MAX */
#define SEQ_MAX    "4611686018427387904" /* BOUNDS_SEQ_MAX */

#define IS_COUNT(column)                                                                           \
    "(typeof(" column ") = 'integer' AND " column " BETWEEN 0 AND " NUMBER_MAX ")"
#define IS_TIME(column)                                                                            \
    "(typeof(" column ") = 'integer' AND " column " BETWEEN -" NUMBER_MAX " AND " NUMBER_MAX ")"

/* A queue's facts outlive its number: they are given back when its number is known again. */
static const char
    drop
        [] =
            "CREATE TEMP TABLE IF NOT EXISTS queues_dropped (name TEXT PRIMARY KEY, facts TEXT);"
            "INSERT OR IGNORE INTO queues_dropped SELECT name, facts FROM queues WHERE number < 1"
            " OR number > 10000 OR number > 1 + (SELECT max(queue) FROM messages WHERE queue <= "
            "10000);"
            "DELETE FROM queues WHERE number < 1 OR number > 10000 OR ifnull(name, '') = ''"
            " OR number > 1024 + (SELECT ifnull(max(queue), 0) FROM messages WHERE queue <= 10000);"
            "DELETE FROM queues WHERE number > (SELECT min(number) FROM queues AS other"
            " WHERE other.name = queues.name);"
            "DELETE FROM counters WHERE ifnull(dlq, '') = '' OR NOT " IS_COUNT(
                "count") ";"
                         "DELETE FROM groups WHERE ifnull(dlq, '') = '' OR NOT " IS_COUNT("count") " OR NOT " IS_COUNT("total") " OR NOT " IS_TIME(
                             "first_ms") " OR NOT " IS_TIME("last_ms") " OR typeof(sample) <> "
                                                                       "'integer' OR sample NOT "
                                                                       "BETWEEN 0 AND " SEQ_MAX
                                                                       " OR length(fingerprint) <> "
                                                                       "16 OR fingerprint GLOB "
                                                                       "'*[^0-9a-f]*';"
                                                                       "DELETE FROM meta WHERE "
                                                                       "typeof(value) <> 'integer' "
                                                                       "OR value NOT BETWEEN 0 "
                                                                       "AND " SEQ_MAX ";";

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
                              "UPDATE queues SET facts = (SELECT facts FROM queues_dropped AS old"
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
