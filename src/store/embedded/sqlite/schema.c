#include "store/embedded/sqlite/schema.h"

#include <stddef.h>

#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/list/filter_signature.h"

/* "impd": identifies the file to file(1) and to impound. */
enum { APPLICATION_ID = 0x696d7064 };

/* The step at index n migrates the file from version n to version n + 1. */
static const char *const steps[SCHEMA_VERSION] = {
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE queues (number INTEGER PRIMARY KEY, name TEXT NOT NULL, facts TEXT);"
    "CREATE TABLE messages ("
    " seq INTEGER PRIMARY KEY, queue INTEGER NOT NULL, id TEXT NOT NULL, letter_id TEXT,"
    " dlq TEXT, state TEXT NOT NULL, cause TEXT, category TEXT, reason TEXT, error_type TEXT,"
    " fingerprint TEXT, key TEXT, attempts INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    " dead_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL, escalated_ms INTEGER NOT NULL,"
    " error_id INTEGER, envelope TEXT NOT NULL);"
    "CREATE INDEX messages_by_id ON messages (id, queue);"
    "CREATE INDEX messages_by_letter ON messages (letter_id) WHERE letter_id IS NOT NULL;"
    "CREATE INDEX messages_by_death ON messages (dlq, state, dead_ms) WHERE dlq IS NOT NULL;"
    "CREATE INDEX messages_waiting ON messages (queue, state, due_ms)"
    " WHERE state IN ('queued', 'pending_retry', 'replaying');"
    "CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);"
    "CREATE TABLE counters ("
    " dlq TEXT NOT NULL, kind TEXT NOT NULL, category TEXT NOT NULL, reason TEXT NOT NULL,"
    " count INTEGER NOT NULL, PRIMARY KEY (dlq, kind, category, reason)) WITHOUT ROWID;"
    "CREATE TABLE ages ("
    " dlq TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,"
    " oldest_ms INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (dlq, start_ms))"
    " WITHOUT ROWID;"
    "CREATE TABLE errors ("
    " error_id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, uses INTEGER NOT NULL,"
    " text TEXT NOT NULL);"
    "CREATE INDEX errors_by_hash ON errors (hash);"
    "CREATE VIRTUAL TABLE errors_text USING fts5"
    " (text, content = 'errors', content_rowid = 'error_id');"
    "CREATE VIEW letters AS SELECT letter_id AS id, dlq, messages.state, cause, category, reason,"
    " error_type, attempts, strftime('%Y-%m-%dT%H:%M:%SZ', dead_ms / 1000, 'unixepoch') AS dead_at,"
    " queues.name AS queue, messages.id AS message_id, key, messages.seq"
    " FROM messages JOIN queues ON queues.number = messages.queue WHERE letter_id IS NOT NULL;",
    "ALTER TABLE messages ADD COLUMN mark TEXT;"
    "ALTER TABLE messages ADD COLUMN closes_key INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX messages_closing ON messages (queue, key)"
    " WHERE closes_key <> 0 AND state = 'pending_review';"
    "CREATE TABLE groups ("
    " dlq TEXT NOT NULL, fingerprint TEXT NOT NULL, count INTEGER NOT NULL,"
    " total INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,"
    " sample INTEGER NOT NULL, PRIMARY KEY (dlq, fingerprint)) WITHOUT ROWID;"
    "INSERT INTO groups SELECT dlq, fingerprint, sum(state IN ('pending_review', 'replaying')),"
    " count(*), min(dead_ms), max(dead_ms), max(seq) FROM messages"
    " WHERE dlq IS NOT NULL AND fingerprint IS NOT NULL"
    " AND fingerprint <> '0000000000000000' GROUP BY 1, 2;"
    "CREATE TABLE kept ("
    " space TEXT NOT NULL, name TEXT NOT NULL, queue INTEGER NOT NULL, value TEXT NOT NULL,"
    " expires_ms INTEGER NOT NULL, PRIMARY KEY (space, name, queue)) WITHOUT ROWID;"
    "CREATE INDEX kept_by_expiry ON kept (expires_ms) WHERE expires_ms <> 0;",
    /* older rows keep their envelope here and their body in the table bodies */
    "ALTER TABLE messages ADD COLUMN envelope_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN envelope_len INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN body_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN body_len INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN delay_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN lease_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE messages ADD COLUMN content_mark TEXT;"
    "CREATE TABLE packs ("
    " number INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, live INTEGER NOT NULL);"
    "DROP VIEW letters;"
    "CREATE VIEW letters AS SELECT letter_id AS id, dlq, messages.state, cause, category, reason,"
    " error_type, errors.text AS error, attempts,"
    " strftime('%Y-%m-%dT%H:%M:%SZ', dead_ms / 1000, 'unixepoch') AS dead_at,"
    " queues.name AS queue, messages.id AS message_id, key, messages.seq,"
    " printf('%016x.pack', body_at >> 32) AS body_file,"
    " (body_at & 4294967295) + 17 AS body_offset, body_len"
    " FROM messages JOIN queues ON queues.number = messages.queue"
    " LEFT JOIN errors USING (error_id) WHERE letter_id IS NOT NULL;",
    /* for rows whose columns do not contain it, the envelope is read */
    "CREATE INDEX messages_leased ON messages (queue)"
    " WHERE lease_ms <> 0 OR content_mark IS NULL;",
    /* for an IN of three values SQLite builds a table for every row that it writes */
    "DROP INDEX messages_waiting;"
    "CREATE INDEX messages_waiting ON messages (queue, state, due_ms)"
    " WHERE state = 'queued' OR state = 'pending_retry' OR state = 'replaying';",
    /* a filter that few letters match scans the index only */
    "ALTER TABLE messages ADD COLUMN traits INTEGER NOT NULL DEFAULT 0;"
    "UPDATE messages SET traits = letter_traits(queue, cause, category, reason, error_type,"
    " fingerprint, key, attempts, escalated_ms) WHERE dlq IS NOT NULL;"
    "DROP INDEX messages_by_death;"
    "CREATE INDEX messages_by_death ON messages (dlq, state, dead_ms, seq, traits, error_id)"
    " WHERE dlq IS NOT NULL;",
    /* letters are counted by state, too */
    "INSERT INTO counters SELECT dlq, state, '', '', count(*) FROM messages"
    " WHERE dlq IS NOT NULL AND state IN ('replaying', 'resolved', 'discarded') GROUP BY 1, 2;"
    "DROP VIEW letters;"
    "CREATE VIEW letters AS SELECT letter_id AS id, dlq, messages.state, cause, category, reason,"
    " error_type, errors.text AS error, attempts,"
    " strftime('%Y-%m-%dT%H:%M:%SZ', dead_ms / 1000, 'unixepoch') AS dead_at,"
    " queues.name AS queue, messages.id AS message_id, key, messages.seq,"
    " printf('%016x.pack', body_at >> 32) AS body_file,"
    " (body_at & 4294967295) + 17 AS body_offset, body_len,"
    " strftime('%Y-%m-%dT%H:%M:%SZ', nullif(created_ms, 0) / 1000, 'unixepoch') AS created_at,"
    " strftime('%Y-%m-%dT%H:%M:%SZ', nullif(escalated_ms, 0) / 1000, 'unixepoch') AS escalated_at,"
    " json_extract(mark, '$.resolved_at') AS resolved_at,"
    " json_extract(mark, '$.resolution') AS resolution, fingerprint"
    " FROM messages JOIN queues ON queues.number = messages.queue"
    " LEFT JOIN errors USING (error_id) WHERE letter_id IS NOT NULL;",
};

static enum status read_pragma(sqlite3 *db, const char *sql, int64_t *out, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        sqlite3_finalize(stmt);
        return database_trouble(db, sql, err);
    }
    *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return STATUS_OK;
}

static enum status take_steps(sqlite3 *db, int64_t from, struct err *err) {
    enum status status = filter_signature_register(db, err);
    if (status == STATUS_OK)
        status = database_run(db, "BEGIN IMMEDIATE", err);
    for (int64_t at = from; status == STATUS_OK && at < SCHEMA_VERSION; at++)
        status = database_run(db, steps[at], err);
    char pragmas[128];
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA user_version = %d; PRAGMA application_id = %d", SCHEMA_VERSION,
                     APPLICATION_ID);
    if (status == STATUS_OK)
        status = database_run(db, pragmas, err);
    if (status == STATUS_OK)
        status = database_run(db, "COMMIT", err);
    if (status != STATUS_OK)
        database_run(db, "ROLLBACK", NULL);
    return status;
}

enum status schema_check(sqlite3 *db, struct err *err) {
    int64_t version = 0, owner = 0, tables = 0;
    enum status status = read_pragma(db, "PRAGMA user_version", &version, err);
    if (status == STATUS_OK)
        status = read_pragma(db, "PRAGMA application_id", &owner, err);
    if (status == STATUS_OK)
        status = read_pragma(db, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (status != STATUS_OK)
        return status;
    const char *path = sqlite3_db_filename(db, "main");
    if (tables > 0 && owner != APPLICATION_ID)
        return err_set(err, STATUS_FORBIDDEN,
                       "%.250s is another program's database, and is left alone: name another file "
                       "as the store",
                       path);
    if (version > SCHEMA_VERSION)
        return err_set(err, STATUS_FORBIDDEN,
                       "the store %.250s has format %lld, and this impound knows up to %d: a newer "
                       "one wrote it, and can go on with it",
                       path, (long long)version, SCHEMA_VERSION);
    return STATUS_OK;
}

enum status schema_prepare(sqlite3 *db, struct err *err) {
    int64_t version = 0;
    enum status status = read_pragma(db, "PRAGMA user_version", &version, err);
    if (status != STATUS_OK || version == SCHEMA_VERSION)
        return status;
    return take_steps(db, version, err);
}

/* ---- mending ---- */

static bool has(sqlite3 *db, const char *name) {
    sqlite3_stmt *stmt = NULL;
    bool found = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name = ?1", -1, &stmt,
                                    NULL) == SQLITE_OK &&
                 sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    return found;
}

static enum status add_missing(sqlite3 *db, sqlite3 *model, struct err *err) {
    static const char all[] = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
                              " AND name NOT GLOB 'errors_text_*' ORDER BY rowid";
    sqlite3_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(model, all, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(model, all, err);
    while (status == STATUS_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        if (!has(db, (const char *)sqlite3_column_text(stmt, 0)))
            status = database_run(db, (const char *)sqlite3_column_text(stmt, 1), err);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum status schema_mend(sqlite3 *db, struct err *err) {
    sqlite3 *model = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_open(":memory:", &model) != SQLITE_OK)
        status = database_trouble(model, "a model of the schema", err);
    if (status == STATUS_OK)
        status = schema_prepare(model, err);
    if (status == STATUS_OK)
        status = add_missing(db, model, err);
    sqlite3_close(model);
    return status;
}
