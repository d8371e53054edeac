#include "store/sqlite/rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/lifecycle.h"
#include "store/mark.h"

enum { FINGERPRINT_SIZE = 17, MARK_COLUMN = 3, BODY_COLUMN = 4 };

static enum status error_of_row(struct database *database, uint64_t seq, int64_t *id,
                                struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_ERROR);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *id = 0;
    while (database_next(database, stmt, &status, err))
        *id = sqlite3_column_int64(stmt, 0);
    return status;
}

/* ---- writing ---- */

static struct bytes or_null(struct bytes text) {
    return text.len > 0 ? text : BYTES_NONE;
}

static void bind_envelope(sqlite3_stmt *stmt, const struct envelope *envelope,
                          char fingerprint[FINGERPRINT_SIZE]) {
    bool letter = envelope->letter_id.len > 0;
    database_bind_text(stmt, 3, envelope->id);
    database_bind_text(stmt, 4, or_null(envelope->letter_id));
    database_bind_text(stmt, 5, or_null(envelope->dlq));
    database_bind_text(stmt, 6, bytes_of(state_text(envelope->state)));
    database_bind_text(stmt, 7, letter ? bytes_of(cause_text(envelope->cause)) : BYTES_NONE);
    database_bind_text(stmt, 8, or_null(envelope->category));
    database_bind_text(stmt, 9, or_null(envelope->reason));
    database_bind_text(stmt, 10, or_null(envelope->error_type));
    if (envelope->failed) {
        snprintf(fingerprint, FINGERPRINT_SIZE, "%016" PRIx64, envelope->fingerprint);
        database_bind_text(stmt, 11, bytes_of(fingerprint));
    }
    database_bind_text(stmt, 12, envelope->key);
    sqlite3_bind_int64(stmt, 13, envelope->attempts);
    sqlite3_bind_int64(stmt, 14, envelope->created_at.ms);
    sqlite3_bind_int64(stmt, 15, envelope->dead_at.ms);
    sqlite3_bind_int64(stmt, 16, envelope->next_attempt_at.ms);
    sqlite3_bind_int64(stmt, 17, envelope->escalated_at.ms);
}

static enum status write_message(struct database *database, const struct row *row,
                                 const struct envelope *envelope, int64_t error_id,
                                 struct err *err) {
    char fingerprint[FINGERPRINT_SIZE];
    sqlite3_stmt *stmt = database_statement(database, row->fresh ? SQL_ROW_ADD : SQL_ROW_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_int64(stmt, 2, row->queue);
    bind_envelope(stmt, envelope, fingerprint);
    if (error_id != 0)
        sqlite3_bind_int64(stmt, 18, error_id);
    sqlite3_bind_blob64(stmt, 19, row->envelope.ptr, row->envelope.len, SQLITE_STATIC);
    database_bind_text(stmt, 20, row->mark);
    return database_step(database, stmt, err);
}

static enum status write_body(struct database *database, const struct row *row, struct err *err) {
    if (!row->body.ptr)
        return STATUS_OK;
    sqlite3_stmt *stmt = database_statement(database, SQL_BODY_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_blob64(stmt, 2, row->body.ptr, row->body.len, SQLITE_STATIC);
    return database_step(database, stmt, err);
}

static enum status write_decoded(struct database *database, struct error_texts *texts,
                                 const struct row *row, const struct envelope *envelope,
                                 struct err *err) {
    int64_t before = 0, after = 0;
    enum status status = STATUS_OK;
    if (!row->fresh)
        status = error_of_row(database, row->seq, &before, err);
    if (status == STATUS_OK)
        status = error_texts_add(texts, database, envelope, &after, err);
    if (status == STATUS_OK)
        status = write_message(database, row, envelope, after, err);
    if (status == STATUS_OK)
        status = write_body(database, row, err);
    error_texts_drop(texts, before);
    return status;
}

enum status rows_write(struct database *database, struct error_texts *texts, const struct row *row,
                       struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct envelope envelope;
    enum status status = envelope_restore(row->envelope, &arena, &envelope, err);
    if (status == STATUS_OK)
        status = mark_read(row->mark, &arena, &envelope, err);
    if (status == STATUS_OK)
        status = write_decoded(database, texts, row, &envelope, err);
    arena_free(&arena);
    return status;
}

enum status rows_mark(struct database *database, uint64_t seq, struct bytes text, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct envelope marked = {0};
    enum status status = mark_read(text, &arena, &marked, err);
    if (status == STATUS_OK) {
        sqlite3_stmt *stmt = database_statement(database, SQL_ROW_MARK);
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
        database_bind_text(stmt, 2, bytes_of(state_text(marked.state)));
        database_bind_text(stmt, 3, text);
        sqlite3_bind_int64(stmt, 4, marked.escalated_at.ms);
        status = database_step(database, stmt, err);
    }
    arena_free(&arena);
    return status;
}

enum status rows_delete(struct database *database, struct error_texts *texts, uint64_t seq,
                        struct err *err) {
    int64_t error_id = 0;
    enum status status = error_of_row(database, seq, &error_id, err);
    enum database_sql both[] = {SQL_ROW_DELETE, SQL_BODY_DELETE};
    for (size_t i = 0; status == STATUS_OK && i < 2; i++) {
        sqlite3_stmt *stmt = database_statement(database, both[i]);
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
        status = database_step(database, stmt, err);
    }
    error_texts_drop(texts, error_id);
    return status;
}

/* ---- reading ---- */

static enum status read_row(struct database *database, sqlite3_stmt *stmt, struct arena *arena,
                            struct row *out, bool *found, struct err *err) {
    enum status status = STATUS_OK;
    *found = false;
    while (database_next(database, stmt, &status, err)) {
        *found = true;
        *out = (struct row){
            .seq = (uint64_t)sqlite3_column_int64(stmt, 0),
            .queue = (uint32_t)sqlite3_column_int64(stmt, 1),
            .envelope = arena_dup(arena, database_text(stmt, 2)),
        };
        if (sqlite3_column_type(stmt, MARK_COLUMN) != SQLITE_NULL)
            out->mark = arena_dup(arena, database_text(stmt, MARK_COLUMN));
        if (sqlite3_column_count(stmt) > BODY_COLUMN &&
            sqlite3_column_type(stmt, BODY_COLUMN) == SQLITE_BLOB)
            out->body = arena_dup(arena, database_text(stmt, BODY_COLUMN));
    }
    return status;
}

enum status rows_read(struct database *database, uint64_t seq, struct arena *arena, struct row *out,
                      bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_WHOLE);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = read_row(database, stmt, arena, out, found, err);
    if (status == STATUS_OK && *found && !out->body.ptr)
        status = err_set(err, STATUS_CORRUPT, "the body of message %llu is missing",
                         (unsigned long long)seq);
    return status;
}

enum status rows_by_seq(struct database *database, uint64_t seq, struct arena *arena,
                        struct row *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_BY_SEQ);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    return read_row(database, stmt, arena, out, found, err);
}

enum status rows_by_id(struct database *database, uint32_t queue, struct bytes id,
                       struct arena *arena, struct row *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_BY_ID);
    database_bind_text(stmt, 1, id);
    sqlite3_bind_int64(stmt, 2, queue);
    return read_row(database, stmt, arena, out, found, err);
}
