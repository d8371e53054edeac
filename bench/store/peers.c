#include "peers.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "app/bench_letters.h"
#include "measure.h"
#include "store/tables/ready/entry.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/store_internal.h"
#include "store/embedded/sqlite/list/filter_signature.h"
#include "store/embedded/sqlite/fold/wal.h"

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

/* The store's own file, with its settings, its table and its indexes: the letters go straight into
 * it, each with its envelope and its body, as they stood there before there were packs. */
static const char add_message[] =
    "INSERT INTO messages (seq, queue, id, letter_id, dlq, state, cause, category, reason,"
    " error_type, fingerprint, attempts, created_ms, dead_ms, due_ms, escalated_ms, envelope,"
    " content_mark, traits, error_id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,?,?,?,?)";
static const char add_body[] = "INSERT INTO bodies VALUES (?,?)";

struct plain {
    char path[PATH_SIZE];
    struct database file;
    sqlite3_stmt *message, *body;
    struct bench_letters *letters;
    struct buf text;
};

static void step(sqlite3_stmt *stmt) {
    measure_check(sqlite3_step(stmt) == SQLITE_DONE, "insert");
    sqlite3_reset(stmt);
}

static void insert(struct plain *plain, uint64_t seq, size_t at) {
    const struct envelope *envelope = &plain->letters->envelopes[at];
    char fingerprint[DATABASE_FINGERPRINT_SIZE];
    database_fingerprint(envelope->fingerprint, fingerprint);
    buf_clear(&plain->text);
    envelope_store(envelope, &plain->text);
    sqlite3_bind_int64(plain->message, 1, (sqlite3_int64)seq);
    sqlite3_bind_int64(plain->message, 2, 1);
    const struct bytes texts[] = {
        envelope->id,         envelope->letter_id, envelope->dlq,    BYTES("pending_review"),
        BYTES("terminal"),    envelope->category,  envelope->reason, envelope->error_type,
        bytes_of(fingerprint)};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        database_bind_text(plain->message, 3 + (int)i, texts[i]);
    sqlite3_bind_int64(plain->message, 12, envelope->attempts);
    sqlite3_bind_int64(plain->message, 13, envelope->created_at.ms);
    sqlite3_bind_int64(plain->message, 14, envelope->dead_at.ms);
    sqlite3_bind_int64(plain->message, 15, envelope->next_attempt_at.ms);
    database_bind_text(plain->message, 16, buf_view(&plain->text));
    database_bind_text(plain->message, 17,
                       bytes_clip(bytes_of(envelope->content_hash), CONTENT_MARK_SIZE));
    sqlite3_bind_int64(plain->message, 18, filter_signature_of(envelope, 1));
    sqlite3_bind_int64(plain->message, 19, (sqlite3_int64)(1 + at));
    step(plain->message);
    sqlite3_bind_int64(plain->body, 1, (sqlite3_int64)seq);
    sqlite3_bind_blob(plain->body, 2, plain->letters->body, LETTERS_BODY, SQLITE_STATIC);
    step(plain->body);
}

static void run_sql(struct plain *plain, const char *sql) {
    measure_check(database_run(plain->file.db, sql, NULL) == STATUS_OK, sql);
}

static sqlite3_stmt *prepare(struct plain *plain, const char *sql) {
    sqlite3_stmt *stmt = NULL;
    measure_check(sqlite3_prepare_v2(plain->file.db, sql, -1, &stmt, NULL) == SQLITE_OK, sql);
    return stmt;
}

struct plain *peers_sqlite_open(const char *dir) {
    struct plain *plain = memory_new(sizeof *plain);
    path_in(dir, "plain.db", plain->path);
    unlink(plain->path);
    struct database_options options = {
        .path = plain->path, .checkpoint = true, .cache_kib = FOLD_CACHE_KIB};
    struct err err = {0};
    measure_check(database_open(&options, &plain->file, &err) == STATUS_OK, err.text);
    sqlite3_wal_autocheckpoint(plain->file.db, WAL_PAGES);
    plain->message = prepare(plain, add_message);
    plain->body = prepare(plain, add_body);
    plain->letters = bench_letters_new();
    buf_init_heap(&plain->text, 64 << 10);
    return plain;
}

void peers_sqlite_remove(struct plain *plain) {
    sqlite3_finalize(plain->message);
    sqlite3_finalize(plain->body);
    database_close(&plain->file);
    unlink(plain->path);
    free(plain->letters);
    buf_free(&plain->text);
    free(plain);
}

double peers_sqlite(struct plain *plain, uint64_t first, uint64_t count, size_t group) {
    double begun = measure_now();
    for (uint64_t next = first; next < first + count; next += group) {
        bench_letters_fill(plain->letters, 1, next, group,
                           (struct wall){1700000000000 + (int64_t)(next / LETTERS_A_MS)});
        run_sql(plain, "BEGIN");
        for (size_t i = 0; i < group; i++)
            insert(plain, next + i, i);
        run_sql(plain, "COMMIT");
    }
    return (double)count / (measure_now() - begun);
}
