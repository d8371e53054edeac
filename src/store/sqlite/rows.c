#include "store/sqlite/rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/lifecycle.h"

enum { FINGERPRINT_SIZE = 17, ERROR_TEXT_MAX = 4096, BODY_COLUMN = 3 };

/* ---- distinct error texts ---- */

static struct bytes error_text(const struct envelope *envelope, struct buf *scratch) {
    if (!envelope->failed)
        return BYTES_NONE;
    buf_bytes(scratch, envelope->error_type);
    if (envelope->error_type.len > 0 && envelope->error_message.len > 0)
        buf_str(scratch, ": ");
    buf_bytes(scratch, bytes_clip(envelope->error_message, ERROR_TEXT_MAX));
    struct bytes text = buf_view(scratch);
    return text.len > 0 ? text : BYTES_NONE;
}

static enum status error_add(struct database *database, struct bytes text, int64_t *id,
                             struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_ADD);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)bytes_hash(text));
    database_bind_text(stmt, 2, text);
    enum status status = database_step(database, stmt, err);
    if (status != STATUS_OK)
        return status;
    *id = sqlite3_last_insert_rowid(database->db);
    stmt = database_statement(database, SQL_ERROR_TEXT_ADD);
    sqlite3_bind_int64(stmt, 1, *id);
    database_bind_text(stmt, 2, text);
    return database_step(database, stmt, err);
}

/* 0: there is no text. */
static enum status error_find(struct database *database, struct bytes text, int64_t *id,
                              struct err *err) {
    *id = 0;
    if (!text.ptr)
        return STATUS_OK;
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_FIND);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)bytes_hash(text));
    database_bind_text(stmt, 2, text);
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err))
        *id = sqlite3_column_int64(stmt, 0);
    if (status != STATUS_OK || *id != 0)
        return status;
    return error_add(database, text, id, err);
}

static enum status error_delete(struct database *database, int64_t id, struct bytes text,
                                struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_TEXT_DELETE);
    sqlite3_bind_int64(stmt, 1, id);
    database_bind_text(stmt, 2, text);
    enum status status = database_step(database, stmt, err);
    if (status != STATUS_OK)
        return status;
    stmt = database_statement(database, SQL_ERROR_DELETE);
    sqlite3_bind_int64(stmt, 1, id);
    return database_step(database, stmt, err);
}

/* One row more or less has this text; the last one takes it along. */
static enum status error_use(struct database *database, int64_t id, int change, struct err *err) {
    if (id == 0)
        return STATUS_OK;
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_USE);
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_int(stmt, 2, change);
    enum status status = STATUS_OK;
    struct arena arena;
    arena_init_heap(&arena, ERROR_TEXT_MAX);
    struct bytes unused = BYTES_NONE;
    while (database_next(database, stmt, &status, err)) {
        if (sqlite3_column_int64(stmt, 0) <= 0)
            unused = arena_dup(&arena, database_text(stmt, 1));
    }
    if (status == STATUS_OK && unused.ptr)
        status = error_delete(database, id, unused, err);
    arena_free(&arena);
    return status;
}

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
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_int64(stmt, 2, row->queue);
    bind_envelope(stmt, envelope, fingerprint);
    if (error_id != 0)
        sqlite3_bind_int64(stmt, 18, error_id);
    database_bind_text(stmt, 19, row->envelope);
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

static enum status write_decoded(struct database *database, const struct row *row,
                                 const struct envelope *envelope, struct err *err) {
    char memory[ERROR_TEXT_MAX + OUTCOME_TYPE_MAX + 2];
    struct buf scratch;
    buf_init_fixed(&scratch, memory, sizeof memory);
    int64_t before = 0, after = 0;
    enum status status = error_of_row(database, row->seq, &before, err);
    if (status == STATUS_OK)
        status = error_find(database, error_text(envelope, &scratch), &after, err);
    if (status == STATUS_OK && after != before)
        status = error_use(database, after, 1, err);
    if (status == STATUS_OK)
        status = write_message(database, row, envelope, after, err);
    if (status == STATUS_OK && after != before)
        status = error_use(database, before, -1, err);
    if (status == STATUS_OK)
        status = write_body(database, row, err);
    return status;
}

enum status rows_write(struct database *database, const struct row *row, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct envelope envelope;
    enum status status = envelope_decode(row->envelope, &arena, &envelope, err);
    if (status == STATUS_OK)
        status = write_decoded(database, row, &envelope, err);
    arena_free(&arena);
    return status;
}

enum status rows_delete(struct database *database, uint64_t seq, struct err *err) {
    int64_t error_id = 0;
    enum status status = error_of_row(database, seq, &error_id, err);
    enum database_sql both[] = {SQL_ROW_DELETE, SQL_BODY_DELETE};
    for (size_t i = 0; status == STATUS_OK && i < 2; i++) {
        sqlite3_stmt *stmt = database_statement(database, both[i]);
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
        status = database_step(database, stmt, err);
    }
    return status == STATUS_OK ? error_use(database, error_id, -1, err) : status;
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
