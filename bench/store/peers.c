#include "peers.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "app/letters.h"
#include "measure.h"
#include "store/sqlite/traits.h"

enum {
    PATH_SIZE = 4096,
    RAW_BYTES = 512 << 20, /* written over and over, as recycled segments are */
    LETTERS_A_MS = 128,
};

static void path_in(const char *dir, const char *name, char path[PATH_SIZE]) {
    measure_check(snprintf(path, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE, "path");
}

/* ---- raw append ---- */

struct bench_raw *peers_raw_new(const char *dir) {
    struct bench_raw *raw;
    struct err err = {0};
    measure_check(bench_raw_new(dir, RAW_BYTES, &raw, &err) == STATUS_OK, err.text);
    return raw;
}

double peers_raw(struct bench_raw *raw, size_t size, uint64_t count, size_t group) {
    struct bench_span span = {.count = count};
    struct err err = {0};
    double rate;
    measure_check(bench_raw_run(raw, size, group, &span, &rate, &err) == STATUS_OK, err.text);
    return rate;
}

/* ---- SQLite alone ---- */

/* The settings and indexes that the store gives its own file. */

static const char schema[] =
    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;"
    "CREATE TABLE messages (seq INTEGER PRIMARY KEY, queue INTEGER, id TEXT, letter_id TEXT,"
    " dlq TEXT, state TEXT, cause TEXT, category TEXT, reason TEXT, error_type TEXT,"
    " fingerprint TEXT, attempts INTEGER, created_ms INTEGER, dead_ms INTEGER,"
    " due_ms INTEGER, envelope BLOB, traits INTEGER, error_id INTEGER);"
    "CREATE INDEX by_id ON messages (id, queue);"
    "CREATE INDEX by_letter ON messages (letter_id) WHERE letter_id IS NOT NULL;"
    "CREATE INDEX by_death ON messages (dlq, state, dead_ms, seq, traits, error_id)"
    " WHERE dlq IS NOT NULL;"
    "CREATE INDEX waiting ON messages (queue, state, due_ms)"
    " WHERE state = 'queued' OR state = 'pending_retry' OR state = 'replaying';"
    "CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);";

struct plain {
    char path[PATH_SIZE];
    sqlite3 *db;
    sqlite3_stmt *message, *body;
    struct letters *letters;
    struct buf text;
};

static void bind(sqlite3_stmt *stmt, int place, struct bytes text) {
    sqlite3_bind_text(stmt, place, text.ptr, (int)text.len, SQLITE_STATIC);
}

static void step(sqlite3_stmt *stmt) {
    measure_check(sqlite3_step(stmt) == SQLITE_DONE, "insert");
    sqlite3_reset(stmt);
}

static void insert(struct plain *plain, uint64_t seq, size_t at) {
    const struct envelope *envelope = &plain->letters->envelopes[at];
    char fingerprint[24];
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)envelope->fingerprint);
    buf_clear(&plain->text);
    envelope_store(envelope, &plain->text);
    sqlite3_bind_int64(plain->message, 1, (sqlite3_int64)seq);
    sqlite3_bind_int64(plain->message, 2, 1);
    const struct bytes texts[] = {
        envelope->id,         envelope->letter_id, envelope->dlq,    BYTES("pending_review"),
        BYTES("terminal"),    envelope->category,  envelope->reason, envelope->error_type,
        bytes_of(fingerprint)};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        bind(plain->message, 3 + (int)i, texts[i]);
    sqlite3_bind_int64(plain->message, 12, envelope->attempts);
    sqlite3_bind_int64(plain->message, 13, envelope->created_at.ms);
    sqlite3_bind_int64(plain->message, 14, envelope->dead_at.ms);
    sqlite3_bind_int64(plain->message, 15, envelope->next_attempt_at.ms);
    sqlite3_bind_blob64(plain->message, 16, plain->text.ptr, plain->text.len, SQLITE_STATIC);
    sqlite3_bind_int64(plain->message, 17, traits_of(envelope, 1));
    sqlite3_bind_int64(plain->message, 18, (sqlite3_int64)(1 + at));
    step(plain->message);
    sqlite3_bind_int64(plain->body, 1, (sqlite3_int64)seq);
    sqlite3_bind_blob(plain->body, 2, plain->letters->body, LETTERS_BODY, SQLITE_STATIC);
    step(plain->body);
}

static void run_sql(struct plain *plain, const char *sql) {
    measure_check(sqlite3_exec(plain->db, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

struct plain *peers_sqlite_open(const char *dir) {
    struct plain *plain = memory_new(sizeof *plain);
    path_in(dir, "plain.db", plain->path);
    unlink(plain->path);
    measure_check(sqlite3_open(plain->path, &plain->db) == SQLITE_OK, plain->path);
    run_sql(plain, schema);
    sqlite3_prepare_v2(plain->db,
                       "INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                       &plain->message, NULL);
    sqlite3_prepare_v2(plain->db, "INSERT INTO bodies VALUES (?,?)", -1, &plain->body, NULL);
    plain->letters = letters_new();
    buf_init_heap(&plain->text, 64 << 10);
    return plain;
}

void peers_sqlite_remove(struct plain *plain) {
    sqlite3_finalize(plain->message);
    sqlite3_finalize(plain->body);
    sqlite3_close(plain->db);
    unlink(plain->path);
    free(plain->letters);
    buf_free(&plain->text);
    free(plain);
}

double peers_sqlite(struct plain *plain, uint64_t first, uint64_t count, size_t group) {
    double begun = measure_now();
    for (uint64_t next = first; next < first + count; next += group) {
        letters_fill(plain->letters, 1, next, group,
                     (struct wall){1700000000000 + (int64_t)(next / LETTERS_A_MS)});
        run_sql(plain, "BEGIN");
        for (size_t i = 0; i < group; i++)
            insert(plain, next + i, i);
        run_sql(plain, "COMMIT");
    }
    return (double)count / (measure_now() - begun);
}
