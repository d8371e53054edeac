#include "store/embedded/sqlite/database.h"

#include <inttypes.h>
#include <stddef.h>

#include "store/embedded/sqlite/list/error_words.h"
#include "store/embedded/sqlite/schema.h"

enum { BUSY_WAIT_MS = 10 * 1000 };

static const char *const sql_texts[SQL_COUNT] = {
#define DATABASE_TEXT(code, text) [SQL_##code] = text,
    DATABASE_SQL(DATABASE_TEXT)
#undef DATABASE_TEXT
};

/* FULL: a fold must be on disk before the folded part of the journal is recycled. */
static const char pragmas[] = "PRAGMA page_size = 8192;"
                              "PRAGMA journal_mode = WAL;"
                              "PRAGMA synchronous = FULL;"
                              "PRAGMA cell_size_check = ON;"
                              "PRAGMA temp_store = MEMORY;";

enum status database_trouble(sqlite3 *db, const char *what, struct err *err) {
    static const struct {
        int code;
        enum status status;
    } known[] = {
        {SQLITE_FULL, STATUS_FULL},
        {SQLITE_CORRUPT, STATUS_CORRUPT},
        {SQLITE_NOTADB, STATUS_CORRUPT},
        {SQLITE_BUSY, STATUS_BUSY},
    };
    enum status status = STATUS_IO;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == (sqlite3_errcode(db) & 0xff))
            status = known[i].status;
    }
    return err_set(err, status, "SQLite: %s (%.100s)", sqlite3_errmsg(db), what);
}

void database_fingerprint(uint64_t fingerprint, char out[DATABASE_FINGERPRINT_SIZE]) {
    for (int i = DATABASE_FINGERPRINT_SIZE - 2; i >= 0; i--, fingerprint >>= 4)
        out[i] = "0123456789abcdef"[fingerprint & 15];
    out[DATABASE_FINGERPRINT_SIZE - 1] = '\0';
}

enum status database_run(sqlite3 *db, const char *sql, struct err *err) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return database_trouble(db, sql, err);
    return STATUS_OK;
}

/* SQLite's memory statistics need one lock for all allocations of all connections. */
static void forgo_statistics(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* fails without harm once SQLite is in use */
}

static enum status set_up(sqlite3 *db, const struct database_options *options, struct err *err) {
    sqlite3_busy_timeout(db, BUSY_WAIT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !options->checkpoint, NULL);
    enum status status = STATUS_OK;
    if (options->alone)
        status = database_run(db, "PRAGMA locking_mode = EXCLUSIVE", err);
    char cache[64];
    sqlite3_snprintf(sizeof cache, cache, "PRAGMA cache_size = -%lld",
                     (long long)(options->cache_kib ? options->cache_kib : DATABASE_CACHE_KIB));
    if (status == STATUS_OK)
        status = database_run(db, cache, err);
    if (status == STATUS_OK)
        status = schema_check(db, err);
    if (status == STATUS_OK)
        status = database_run(db, pragmas, err);
    if (status == STATUS_OK)
        status = error_words_register(db, err);
    if (status == STATUS_OK)
        status = schema_prepare(db, err);
    return status;
}

enum status database_open(const struct database_options *options, struct database *out,
                          struct err *err) {
    *out = (struct database){0};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, forgo_statistics);
    pthread_mutex_init(&out->mutex, NULL);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    enum status status = STATUS_OK;
    if (sqlite3_open_v2(options->path, &out->db, flags, options->vfs) != SQLITE_OK)
        status = database_trouble(out->db, options->path, err);
    if (status == STATUS_OK)
        status = set_up(out->db, options, err);
    if (status == STATUS_CORRUPT && (sqlite3_errcode(out->db) & 0xff) == SQLITE_NOTADB)
        err_set(err, status,
                "%.250s is no SQLite database: name another file as the store or, where it was "
                "one, have `impound doctor --repair` set it aside and make a new one",
                options->path);
    if (status != STATUS_OK)
        database_close(out);
    return status;
}

void database_close(struct database *database) {
    for (size_t i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(database->statements[i]);
    sqlite3_close(database->db);
    pthread_mutex_destroy(&database->mutex);
    *database = (struct database){0};
}

void database_abandon(struct database *database) {
    sqlite3_db_config(database->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    database_close(database);
}

void database_lock(struct database *database) {
    pthread_mutex_lock(&database->mutex);
}

void database_unlock(struct database *database) {
    pthread_mutex_unlock(&database->mutex);
}

sqlite3_stmt *database_again(struct database *database, enum database_sql which) {
    sqlite3_stmt **stmt = &database->statements[which];
    if (*stmt)
        sqlite3_reset(*stmt);
    else
        sqlite3_prepare_v3(database->db, sql_texts[which], -1, SQLITE_PREPARE_PERSISTENT, stmt,
                           NULL);
    return *stmt;
}

sqlite3_stmt *database_statement(struct database *database, enum database_sql which) {
    sqlite3_stmt *stmt = database_again(database, which);
    if (stmt)
        sqlite3_clear_bindings(stmt);
    return stmt;
}

enum status database_prepare_all(struct database *database, struct err *err) {
    for (int which = 0; which < SQL_COUNT; which++) {
        if (!database_statement(database, (enum database_sql)which))
            return err_set(err, STATUS_CORRUPT, "the SQLite file's schema: %s",
                           sqlite3_errmsg(database->db));
    }
    return STATUS_OK;
}

bool database_next(struct database *database, sqlite3_stmt *stmt, enum status *status,
                   struct err *err) {
    int code = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        *status = database_trouble(database->db, stmt ? sqlite3_sql(stmt) : "a statement", err);
    sqlite3_reset(stmt);
    return false;
}

enum status database_step(struct database *database, sqlite3_stmt *stmt, struct err *err) {
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err))
        ;
    return status;
}

void database_bind_text(sqlite3_stmt *stmt, int place, struct bytes text) {
    if (text.ptr)
        sqlite3_bind_text64(stmt, place, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(stmt, place);
}

struct bytes database_text(sqlite3_stmt *stmt, int column) {
    const char *text = sqlite3_column_blob(stmt, column); /* the bytes as stored: text is UTF-8 */
    if (!text)
        return sqlite3_column_type(stmt, column) == SQLITE_NULL ? BYTES_NONE : BYTES("");
    return (struct bytes){text, (size_t)sqlite3_column_bytes(stmt, column)};
}

enum status database_meta(struct database *database, const char *name, uint64_t *out,
                          struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_META_GET);
    database_bind_text(stmt, 1, bytes_of(name));
    enum status status = STATUS_OK;
    *out = 0;
    while (database_next(database, stmt, &status, err))
        *out = (uint64_t)sqlite3_column_int64(stmt, 0);
    return status;
}

enum status database_set_meta(struct database *database, const char *name, uint64_t value,
                              struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_META_SET);
    database_bind_text(stmt, 1, bytes_of(name));
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)value);
    return database_step(database, stmt, err);
}
