#include "core/fingerprint.h"
#include "core/lifecycle.h"
#include "store/tables/ready/entry.h"
#include "store/tables/mark.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/sqlite/rows.h"

#include <string.h>

/* A pack may be removed between the read of the row and the read of the pack. */
enum { READ_TRIES = 8 };

/* ---- whole messages ---- */

enum { WHOLE_MARK, WHOLE_ENVELOPE, WHOLE_ENVELOPE_AT, WHOLE_BODY_AT = 4, WHOLE_BODY = 6 };

static struct bytes copy(sqlite3_stmt *stmt, int column, struct arena *arena) {
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
        return BYTES_NONE;
    return arena_dup(arena, database_text(stmt, column));
}

static struct bytes or_empty(struct bytes text) {
    return text.ptr ? text : BYTES("");
}

/* Reads from the pack, or from the column that was used before packs were introduced. */
static enum status read_bytes(struct database *database, sqlite3_stmt *stmt, int place, int column,
                              struct pack_owner owner, struct arena *arena, struct bytes *out,
                              struct err *err) {
    struct pack_place at = {(uint64_t)sqlite3_column_int64(stmt, place),
                            (uint64_t)sqlite3_column_int64(stmt, place + 1)};
    if (at.at != 0)
        return packs_read(database->packs, at, owner, arena, out, err);
    *out = copy(stmt, column, arena);
    return STATUS_OK;
}

static enum status read_once(struct database *database, uint64_t seq, struct arena *arena,
                             struct row *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_WHOLE);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *found = database_next(database, stmt, &status, err);
    if (!*found)
        return status;
    *out = (struct row){.seq = seq, .mark = copy(stmt, WHOLE_MARK, arena)};
    status = read_bytes(database, stmt, WHOLE_ENVELOPE_AT, WHOLE_ENVELOPE,
                        (struct pack_owner){seq, PACK_ENVELOPE}, arena, &out->envelope, err);
    if (status == STATUS_OK)
        status = read_bytes(database, stmt, WHOLE_BODY_AT, WHOLE_BODY,
                            (struct pack_owner){seq, PACK_BODY}, arena, &out->body, err);
    sqlite3_reset(stmt);
    return status;
}

enum status rows_read(struct database *database, uint64_t seq, struct arena *arena, struct row *out,
                      bool *found, struct err *err) {
    enum status status = read_once(database, seq, arena, out, found, err);
    for (int tries = 1; status == STATUS_NOT_FOUND && tries < READ_TRIES; tries++)
        status = read_once(database, seq, arena, out, found, err);
    if (status == STATUS_NOT_FOUND)
        status = err_set(err, STATUS_CORRUPT, "the pack that holds message %llu is missing",
                         (unsigned long long)seq);
    if (status == STATUS_OK && *found && !out->body.ptr)
        status = err_set(err, STATUS_CORRUPT, "the body of message %llu is missing",
                         (unsigned long long)seq);
    return status;
}

void rows_read_halves(struct database *database, uint64_t seq, struct arena *arena,
                      struct rows_halves *out) {
    *out = (struct rows_halves){0};
    sqlite3_stmt *stmt = database_statement(database, SQL_WHOLE);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    if (!database_next(database, stmt, &status, NULL))
        return;
    if (read_bytes(database, stmt, WHOLE_ENVELOPE_AT, WHOLE_ENVELOPE,
                   (struct pack_owner){seq, PACK_ENVELOPE}, arena, &out->envelope,
                   NULL) != STATUS_OK)
        out->envelope = BYTES_NONE;
    if (read_bytes(database, stmt, WHOLE_BODY_AT, WHOLE_BODY, (struct pack_owner){seq, PACK_BODY},
                   arena, &out->body, NULL) != STATUS_OK)
        out->body = BYTES_NONE;
    sqlite3_reset(stmt);
}

enum status rows_read_mark(struct database *database, uint64_t seq, struct arena *arena,
                           struct bytes *out) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_MARKED);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *out = BYTES_NONE;
    while (database_next(database, stmt, &status, NULL))
        *out = copy(stmt, 0, arena);
    return status;
}

/* ---- facts ---- */

enum {
    FACT_SEQ,
    FACT_QUEUE,
    FACT_ID,
    FACT_LETTER_ID,
    FACT_DLQ,
    FACT_STATE,
    FACT_CATEGORY,
    FACT_REASON,
    FACT_FINGERPRINT,
    FACT_KEY,
    FACT_ATTEMPTS,
    FACT_CREATED,
    FACT_DEAD,
    FACT_DUE,
    FACT_ESCALATED,
    FACT_DELAY,
    FACT_LEASE,
    FACT_CLOSES_KEY,
    FACT_CONTENT,
    FACT_MARK,
    FACT_ENVELOPE,
    FACT_BODY_LEN,
};

static struct wall time_of(struct bounds *row, int column) {
    return (struct wall){bounds_time(row, column)};
}

static void from_columns(struct bounds *row, struct arena *arena, struct envelope *out) {
    sqlite3_stmt *stmt = row->stmt;
    *out = (struct envelope){
        .id = or_empty(copy(stmt, FACT_ID, arena)),
        .letter_id = copy(stmt, FACT_LETTER_ID, arena),
        .dlq = copy(stmt, FACT_DLQ, arena),
        .category = copy(stmt, FACT_CATEGORY, arena),
        .reason = copy(stmt, FACT_REASON, arena),
        .key = copy(stmt, FACT_KEY, arena),
        .attempts = (uint32_t)bounds_int(row, FACT_ATTEMPTS, 0, UINT32_MAX),
        .created_at = time_of(row, FACT_CREATED),
        .dead_at = time_of(row, FACT_DEAD),
        .next_attempt_at = time_of(row, FACT_DUE),
        .escalated_at = time_of(row, FACT_ESCALATED),
        .size = bounds_count(row, FACT_BODY_LEN),
        .delay_ms = (int64_t)bounds_count(row, FACT_DELAY),
        .lease_ms = (int64_t)bounds_count(row, FACT_LEASE),
        .closes_key = sqlite3_column_int(stmt, FACT_CLOSES_KEY) != 0,
        .failed = sqlite3_column_type(stmt, FACT_FINGERPRINT) != SQLITE_NULL,
    };
    struct bytes content = bytes_clip(database_text(stmt, FACT_CONTENT), CONTENT_MARK_SIZE);
    if (content.len > 0)
        memcpy(out->content_hash, content.ptr, content.len);
    if (out->failed && !fingerprint_parse(database_text(stmt, FACT_FINGERPRINT), &out->fingerprint))
        bounds_damaged(row, FACT_FINGERPRINT, "it is no fingerprint");
    if (!state_parse(database_text(stmt, FACT_STATE), &out->state) || out->state == STATE_RUNNING ||
        out->state == STATE_RETRYING)
        bounds_damaged(row, FACT_STATE, "it is no state that is stored");
    else if (lifecycle_is_letter(out->state) && (out->dlq.len == 0 || out->letter_id.len == 0))
        bounds_damaged(row, FACT_STATE, "a letter without its DLQ or its id");
    (void)bounds_name(row, FACT_ID);
}

/* For a row that was stored before packs were introduced. */
static enum status from_envelope(sqlite3_stmt *stmt, struct arena *arena, struct bytes mark,
                                 struct envelope *out, struct err *err) {
    enum status status = envelope_restore_facts(copy(stmt, FACT_ENVELOPE, arena), arena, out, err);
    return status == STATUS_OK ? mark_read(mark, arena, out, err) : status;
}

enum status rows_facts(sqlite3_stmt *stmt, struct arena *arena, struct row_facts *out,
                       struct err *err) {
    struct bounds row = {.stmt = stmt, .table = "messages", .row = FACT_SEQ, .err = err};
    *out = (struct row_facts){.seq = (uint64_t)bounds_int(&row, FACT_SEQ, 1, BOUNDS_SEQ_MAX - 1),
                              .queue = (uint32_t)bounds_int(&row, FACT_QUEUE, 1, BOUNDS_QUEUES_MAX),
                              .mark = copy(stmt, FACT_MARK, arena)};
    if (row.status != STATUS_OK)
        return row.status;
    if (sqlite3_column_type(stmt, FACT_CONTENT) == SQLITE_NULL)
        return from_envelope(stmt, arena, out->mark, &out->envelope, err);
    from_columns(&row, arena, &out->envelope);
    return row.status;
}

static enum status read_facts(struct database *database, sqlite3_stmt *stmt, struct arena *arena,
                              struct row_facts *out, bool *found, struct err *err) {
    enum status status = STATUS_OK;
    *found = database_next(database, stmt, &status, err);
    if (*found) {
        status = rows_facts(stmt, arena, out, err);
        sqlite3_reset(stmt);
    }
    return status;
}

enum status rows_by_seq(struct database *database, uint64_t seq, struct arena *arena,
                        struct row_facts *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_BY_SEQ);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    return read_facts(database, stmt, arena, out, found, err);
}

enum status rows_by_id(struct database *database, uint32_t queue, struct bytes id,
                       struct arena *arena, struct row_facts *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_BY_ID);
    database_bind_text(stmt, 1, id);
    sqlite3_bind_int64(stmt, 2, queue);
    return read_facts(database, stmt, arena, out, found, err);
}
