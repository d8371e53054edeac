/* database: one SQLite connection with its prepared statements. One thread at a time uses it: each
 * connection has a lock, which is held from database_lock to database_unlock. */
#ifndef STORE_EMBEDDED_SQLITE_DATABASE_H
#define STORE_EMBEDDED_SQLITE_DATABASE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* The values of a whole row, in the order of its columns, and the rows of one multi-row INSERT. */
enum { DATABASE_ROW_VALUES = 29, DATABASE_ROWS = 16 };
#define DATABASE_ANY_ROW                                                                           \
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define DATABASE_TWO_ROWS  DATABASE_ANY_ROW ", " DATABASE_ANY_ROW
#define DATABASE_FOUR_ROWS DATABASE_TWO_ROWS ", " DATABASE_TWO_ROWS
#define DATABASE_ALL_ROWS                                                                          \
    DATABASE_FOUR_ROWS ", " DATABASE_FOUR_ROWS ", " DATABASE_FOUR_ROWS ", " DATABASE_FOUR_ROWS
#define DATABASE_ROW                                                                               \
    "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,"  \
    " ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29)"
/* The columns that the tables in memory need. */
#define DATABASE_FACTS                                                                             \
    "seq, queue, id, letter_id, dlq, state, category, reason, fingerprint, key, attempts,"         \
    " created_ms, dead_ms, due_ms, escalated_ms, delay_ms, lease_ms, closes_key, content_mark,"    \
    " mark, envelope, body_len"
/* The columns that refer to other tables and to packs. */
#define DATABASE_PLACES "error_id, envelope_at, envelope_len, body_at, body_len"

/* The same expression as in the index; otherwise SQLite does not use the index. */
#define DATABASE_WAITS "(state = 'queued' OR state = 'pending_retry' OR state = 'replaying')"
/* A paged queue from a position on, in its order. */
#define DATABASE_LANE(state)                                                                       \
    " FROM messages INDEXED BY messages_waiting WHERE " DATABASE_WAITS                             \
    " AND queue = ?1 AND state = " state
#define DATABASE_LANE_FROM                                                                         \
    " AND due_ms >= ?2 AND (due_ms, seq) >= (?2, ?3) ORDER BY due_ms, seq LIMIT ?4"

#define DATABASE_SQL(X)                                                                            \
    X(BEGIN, "BEGIN")                                                                              \
    X(END, "END")                                                                                  \
    X(CHECK_MESSAGES, "SELECT 'ok' FROM messages LIMIT 1")                                         \
    X(CHECK_BODIES, "SELECT 'ok' FROM bodies LIMIT 1")                                             \
    X(CHECK_KEPT, "SELECT 'ok' FROM kept LIMIT 1")                                                 \
    X(CHECK_ERRORS, "SELECT 'ok' FROM errors LIMIT 1")                                             \
    X(CHECK_META, "PRAGMA quick_check(meta)")                                                      \
    X(CHECK_QUEUES, "PRAGMA quick_check(queues)")                                                  \
    X(CHECK_COUNTERS, "PRAGMA quick_check(counters)")                                              \
    X(CHECK_AGES, "PRAGMA quick_check(ages)")                                                      \
    X(CHECK_GROUPS, "PRAGMA quick_check(groups)")                                                  \
    X(CHECK_PACKS, "PRAGMA quick_check(packs)")                                                    \
    X(META_GET, "SELECT value FROM meta WHERE name = ?1")                                          \
    X(META_SET, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)")                                     \
    X(QUEUES, "SELECT number, name, facts FROM queues")                                            \
    X(QUEUE_SET, "INSERT OR REPLACE INTO queues VALUES (?1, ?2, ?3)")                              \
    /* two queues never have the same name */                                                      \
    X(QUEUE_NAME, "INSERT INTO queues SELECT ?1, ?2, NULL"                                         \
                  " WHERE NOT EXISTS (SELECT 1 FROM queues WHERE name = ?2)"                       \
                  " ON CONFLICT DO UPDATE SET name = ?2")                                          \
    X(QUEUE_FACTS, "UPDATE queues SET facts = ?2 WHERE number = ?1")                               \
    X(QUEUE_NAMED, "SELECT name FROM queues WHERE number = ?1")                                    \
    X(QUEUE_NUMBER, "SELECT number FROM queues WHERE name = ?1")                                   \
    X(COUNTERS, "SELECT dlq, kind, category, reason, count FROM counters")                         \
    X(COUNTER_SET, "INSERT OR REPLACE INTO counters VALUES (?1, ?2, ?3, ?4, ?5)")                  \
    X(AGES, "SELECT dlq, start_ms, end_ms, oldest_ms, count FROM ages ORDER BY dlq, start_ms")     \
    X(AGE_SET, "INSERT OR REPLACE INTO ages VALUES (?1, ?2, ?3, ?4, ?5)")                          \
    X(AGES_DELETE, "DELETE FROM ages WHERE dlq = ?1")                                              \
    /* otherwise the planner scans all letters to avoid a sort */                                  \
    X(WAITING, "SELECT " DATABASE_FACTS " FROM messages INDEXED BY messages_waiting"               \
               " WHERE " DATABASE_WAITS " ORDER BY seq")                                           \
    X(WAITING_COUNTS, "SELECT queue, state, sum(due_ms = 0), sum(due_ms <> 0) FROM messages"       \
                      " INDEXED BY messages_waiting"                                               \
                      " WHERE " DATABASE_WAITS " GROUP BY queue, state")                           \
    X(LEASED,                                                                                      \
      "SELECT " DATABASE_FACTS " FROM messages INDEXED BY messages_leased"                         \
      " WHERE (lease_ms <> 0 OR content_mark IS NULL) AND " DATABASE_WAITS " ORDER BY seq")        \
    X(REPLAYING, "SELECT " DATABASE_FACTS " FROM messages INDEXED BY messages_waiting"             \
                 " WHERE queue = ?1 AND state = 'replaying' AND " DATABASE_WAITS " ORDER BY seq")  \
    X(AWAITING_ROOM, "SELECT " DATABASE_FACTS " FROM messages INDEXED BY messages_waiting"         \
                     " WHERE " DATABASE_WAITS " AND queue = ?1 AND state = 'pending_retry'"        \
                     " AND due_ms = 0 AND dlq IS NOT NULL ORDER BY seq")                           \
    X(PAGED_QUEUE_READY,                                                                           \
      "SELECT " DATABASE_FACTS DATABASE_LANE("'queued'") " AND due_ms = ?2"                        \
                                                         " AND seq >= ?3 ORDER BY seq LIMIT ?4")   \
    X(PAGED_QUEUE_DELAYED, "SELECT " DATABASE_FACTS DATABASE_LANE("'queued'") DATABASE_LANE_FROM)  \
    X(PAGED_QUEUE_RETRY,                                                                           \
      "SELECT " DATABASE_FACTS DATABASE_LANE("'pending_retry'") DATABASE_LANE_FROM)                \
    X(CLOSING, "SELECT " DATABASE_FACTS " FROM messages INDEXED BY messages_closing"               \
               " WHERE closes_key <> 0 AND state = 'pending_review' ORDER BY seq")                 \
    X(GROUPS, "SELECT dlq, fingerprint, count, total, first_ms, last_ms, sample FROM groups")      \
    X(GROUP_SET, "INSERT OR REPLACE INTO groups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")              \
    X(SEQ_MAX, "SELECT max(seq) FROM messages")                                                    \
    X(BY_SEQ, "SELECT " DATABASE_FACTS " FROM messages WHERE seq = ?1")                            \
    X(BY_ID, "SELECT " DATABASE_FACTS " FROM messages WHERE id = ?1 AND queue = ?2"                \
             " ORDER BY state IN ('resolved', 'discarded'), seq DESC LIMIT 1")                     \
    X(WHOLE, "SELECT mark, envelope, envelope_at, envelope_len, body_at, body_len,"                \
             " (SELECT body FROM bodies WHERE bodies.seq = messages.seq)"                          \
             " FROM messages WHERE seq = ?1")                                                      \
    X(MATCHES, "SELECT seq, queue, state IN ('resolved', 'discarded') FROM messages WHERE id = ?1" \
               " UNION SELECT seq, queue, state IN ('resolved', 'discarded') FROM messages"        \
               " WHERE letter_id = ?1")                                                            \
    X(TRAITS, "SELECT traits, dead_ms FROM messages INDEXED BY messages_by_death"                  \
              " WHERE dlq IS NOT NULL")                                                            \
    X(ROW_TRAITS, "SELECT traits, dead_ms FROM messages WHERE seq = ?1")                           \
    X(ROWS_IN_PACK, "SELECT seq FROM messages WHERE envelope_at BETWEEN ?1 AND ?2"                 \
                    " OR body_at BETWEEN ?1 AND ?2 LIMIT 1")                                       \
    X(HAVE_IDS, "SELECT asked.key, seq FROM json_each(?1) AS asked CROSS JOIN messages"            \
                " ON messages.id = asked.value AND queue = ?2")                                    \
    X(HAVE_BETWEEN, "SELECT 1 FROM messages WHERE id BETWEEN ?1 AND ?2 LIMIT 1")                   \
    X(ROW_ADD, "INSERT INTO messages VALUES " DATABASE_ROW)                                        \
    X(ROWS_ADD, "INSERT OR FAIL INTO messages VALUES " DATABASE_ALL_ROWS)                          \
    X(ROW_SET,                                                                                     \
      "INSERT INTO messages VALUES " DATABASE_ROW " ON CONFLICT (seq) DO UPDATE SET"               \
      " letter_id = excluded.letter_id, dlq = excluded.dlq, state = excluded.state,"               \
      " cause = excluded.cause, category = excluded.category, reason = excluded.reason,"           \
      " error_type = excluded.error_type, fingerprint = excluded.fingerprint,"                     \
      " key = excluded.key, attempts = excluded.attempts, dead_ms = excluded.dead_ms,"             \
      " due_ms = excluded.due_ms, escalated_ms = excluded.escalated_ms,"                           \
      " error_id = excluded.error_id, envelope = excluded.envelope, mark = excluded.mark,"         \
      " envelope_at = excluded.envelope_at, envelope_len = excluded.envelope_len,"                 \
      " body_at = excluded.body_at, body_len = excluded.body_len, delay_ms = excluded.delay_ms,"   \
      " lease_ms = excluded.lease_ms, closes_key = excluded.closes_key,"                           \
      " content_mark = excluded.content_mark, traits = excluded.traits")                           \
    X(ROW_MARK, "UPDATE messages SET state = ?2, mark = ?3,"                                       \
                " escalated_ms = iif(?4 <> 0, ?4, escalated_ms),"                                  \
                " traits = iif(?4 <> 0, traits | ?5, traits) WHERE seq = ?1")                      \
    X(ROWS_DELETE,                                                                                 \
      "DELETE FROM messages WHERE seq IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"         \
      " RETURNING " DATABASE_PLACES ", seq")                                                       \
    X(ROW_COLUMNS,                                                                                 \
      "SELECT messages.queue, id, letter_id, dlq, state, cause, category, reason, error_type,"     \
      " fingerprint, key, attempts, created_ms, dead_ms, due_ms, escalated_ms, closes_key, mark,"  \
      " errors.text, queues.name FROM messages LEFT JOIN errors USING (error_id)"                  \
      " LEFT JOIN queues ON queues.number = messages.queue WHERE seq = ?1")                        \
    X(QUEUELESS, "SELECT seq FROM messages WHERE queue NOT IN (SELECT number FROM queues)")        \
    X(BODILESS, "SELECT seq FROM messages WHERE body_at = 0 AND seq NOT IN"                        \
                " (SELECT seq FROM bodies) ORDER BY seq")                                          \
    X(ROW_MARKED, "SELECT mark FROM messages WHERE seq = ?1")                                      \
    X(BODY_DELETE, "DELETE FROM bodies WHERE seq = ?1")                                            \
    X(ROW_PLACES, "SELECT " DATABASE_PLACES " FROM messages WHERE seq = ?1")                       \
    X(ROW_ENVELOPE_AT, "UPDATE messages SET envelope_at = ?2 WHERE seq = ?1")                      \
    X(ROW_BODY_AT, "UPDATE messages SET body_at = ?2 WHERE seq = ?1")                              \
    X(ROW_BODY_SET, "UPDATE messages SET body_at = ?2, body_len = ?3 WHERE seq = ?1")              \
    X(PACKS, "SELECT number, bytes, live FROM packs ORDER BY number")                              \
    X(PACK_SET, "INSERT OR REPLACE INTO packs VALUES (?1, ?2, ?3)")                                \
    X(PACK_DELETE, "DELETE FROM packs WHERE number = ?1")                                          \
    X(ERROR_FIND, "SELECT error_id FROM errors WHERE hash = ?1 AND text = ?2")                     \
    X(ERROR_ADD, "INSERT INTO errors (hash, uses, text) VALUES (?1, 0, ?2)")                       \
    X(ERROR_TEXT_ADD, "INSERT INTO errors_text (rowid, text) VALUES (?1, ?2)")                     \
    X(ERROR_USE, "UPDATE errors SET uses = uses + ?2 WHERE error_id = ?1 RETURNING uses, text")    \
    X(ERROR_TEXT_DELETE,                                                                           \
      "INSERT INTO errors_text (errors_text, rowid, text) VALUES ('delete', ?1, ?2)")              \
    X(ERROR_DELETE, "DELETE FROM errors WHERE error_id = ?1")                                      \
    X(KEEP_SET, "INSERT OR REPLACE INTO kept VALUES (?1, ?2, ?3, ?4, ?5)")                         \
    X(KEEP_DROP, "DELETE FROM kept WHERE space = ?1 AND name = ?2 AND queue = ?3")                 \
    X(KEEP_SWEEP, "DELETE FROM kept WHERE (space, name, queue) IN (SELECT space, name, queue"      \
                  " FROM kept WHERE expires_ms <> 0 AND expires_ms <= ?1"                          \
                  " ORDER BY expires_ms LIMIT ?2)")                                                \
    X(KEPT, "SELECT queue, value FROM kept WHERE space = ?1 AND name = ?2"                         \
            " AND (expires_ms = 0 OR expires_ms > ?3)")                                            \
    X(KEPT_UP, "SELECT name, queue, value FROM kept WHERE space = ?1 AND name >= ?2"               \
               " AND name < ?3 AND (expires_ms = 0 OR expires_ms > ?4) ORDER BY name, queue")      \
    X(KEPT_DOWN, "SELECT name, queue, value FROM kept WHERE space = ?1 AND name >= ?2"             \
                 " AND name < ?3 AND (expires_ms = 0 OR expires_ms > ?4)"                          \
                 " ORDER BY name DESC, queue DESC")

enum database_sql {
#define DATABASE_ENUM(code, text) SQL_##code,
    DATABASE_SQL(DATABASE_ENUM)
#undef DATABASE_ENUM
        SQL_COUNT
};

struct packs;
struct time_bounds;

struct database {
    sqlite3 *db;
    struct packs *packs;        /* borrowed: the packs that its rows refer to */
    struct time_bounds *spread; /* borrowed: updated for every letter that is written; NULL: none */
    sqlite3_stmt *statements[SQL_COUNT];
    pthread_mutex_t mutex;
};

enum { DATABASE_CACHE_KIB = 8 << 10 };

struct database_options {
    const char *path;
    const char *vfs;
    bool alone;       /* no other connection, in this process or another: a simulation */
    bool checkpoint;  /* whether closing may run a checkpoint */
    size_t cache_kib; /* size of the page cache; 0: DATABASE_CACHE_KIB */
};

/* Opens or creates the file, and prepares the schema. */
enum status database_open(const struct database_options *options, struct database *out,
                          struct err *err);
void database_close(struct database *database);
/* Simulates a power failure: writes nothing more. */
void database_abandon(struct database *database);
void database_lock(struct database *database);
void database_unlock(struct database *database);

/* CORRUPT: the schema does not match the statements. */
enum status database_prepare_all(struct database *database, struct err *err);
/* Returns the statement, reset and with no bindings; borrowed until the next call for it. */
sqlite3_stmt *database_statement(struct database *database, enum database_sql which);
/* The same with the previous bindings: for callers that bind every value. */
sqlite3_stmt *database_again(struct database *database, enum database_sql which);
/* Steps a statement that returns no rows, and resets it. */
enum status database_step(struct database *database, sqlite3_stmt *stmt, struct err *err);
/* True: a row. Resets the statement at the end or on an error, which is stored in *status. */
bool database_next(struct database *database, sqlite3_stmt *stmt, enum status *status,
                   struct err *err);
/* ptr NULL: binds NULL. */
void database_bind_text(sqlite3_stmt *stmt, int place, struct bytes text);
struct bytes database_text(sqlite3_stmt *stmt, int column); /* borrowed until the next step */

/* Its form in the file: 16 hexadecimal digits. */
enum { DATABASE_FINGERPRINT_SIZE = 17 };
void database_fingerprint(uint64_t fingerprint, char out[DATABASE_FINGERPRINT_SIZE]);

enum status database_run(sqlite3 *db, const char *sql, struct err *err);
/* Fills err from SQLite's last error. */
enum status database_trouble(sqlite3 *db, const char *what, struct err *err);
/* 0 if it was never set. */
enum status database_meta(struct database *database, const char *name, uint64_t *out,
                          struct err *err);
enum status database_set_meta(struct database *database, const char *name, uint64_t value,
                              struct err *err);

#endif
