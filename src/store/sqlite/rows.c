#include "store/sqlite/rows.h"

#include "core/lifecycle.h"
#include "store/entry.h"
#include "store/mark.h"
#include "store/sqlite/packs.h"

enum { SCRATCH_BYTES = 4096 };

/* ---- what a row refers to ---- */

struct places {
    int64_t error_id;
    struct pack_place envelope,
        body; /* nowhere: in the SQLite file, since before there were packs */
};

static struct pack_place place_of(sqlite3_stmt *stmt, int column) {
    return (struct pack_place){(uint64_t)sqlite3_column_int64(stmt, column),
                               (uint64_t)sqlite3_column_int64(stmt, column + 1)};
}

/* Of the row that the statement reads or deletes; *found is false when there is none. */
static enum status take_places(struct database *database, enum database_sql which, uint64_t seq,
                               struct places *out, bool *found, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, which);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *out = (struct places){0};
    *found = false;
    while (database_next(database, stmt, &status, err)) {
        *found = true;
        *out = (struct places){.error_id = sqlite3_column_int64(stmt, 0),
                               .envelope = place_of(stmt, 1),
                               .body = place_of(stmt, 3)};
    }
    return status;
}

static enum status delete_old_body(struct database *database, uint64_t seq, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_BODY_DELETE);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    return database_step(database, stmt, err);
}

/* ---- writing ---- */

static struct bytes or_null(struct bytes text) {
    return text.len > 0 ? text : BYTES_NONE;
}

static void bind_envelope(sqlite3_stmt *stmt, const struct envelope *envelope,
                          char fingerprint[DATABASE_FINGERPRINT_SIZE]) {
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
        database_fingerprint(envelope->fingerprint, fingerprint);
        database_bind_text(stmt, 11, bytes_of(fingerprint));
    }
    database_bind_text(stmt, 12, envelope->key);
    sqlite3_bind_int64(stmt, 13, envelope->attempts);
    sqlite3_bind_int64(stmt, 14, envelope->created_at.ms);
    sqlite3_bind_int64(stmt, 15, envelope->dead_at.ms);
    sqlite3_bind_int64(stmt, 16, envelope->next_attempt_at.ms);
    sqlite3_bind_int64(stmt, 17, envelope->escalated_at.ms);
    sqlite3_bind_int64(stmt, 21, envelope->closes_key);
    sqlite3_bind_int64(stmt, 26, envelope->delay_ms);
    sqlite3_bind_int64(stmt, 27, envelope->lease_ms);
    database_bind_text(stmt, 28, bytes_clip(bytes_of(envelope->content_hash), CONTENT_MARK_SIZE));
}

static void bind_places(sqlite3_stmt *stmt, const struct places *places) {
    const uint64_t numbers[] = {places->envelope.at, places->envelope.len, places->body.at,
                                places->body.len};
    if (places->error_id != 0)
        sqlite3_bind_int64(stmt, 18, places->error_id);
    database_bind_text(stmt, 19, BYTES(""));
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(stmt, 22 + i, (sqlite3_int64)numbers[i]);
}

static enum status write_message(struct database *database, const struct row *row,
                                 const struct envelope *envelope, const struct places *places,
                                 struct err *err) {
    char fingerprint[DATABASE_FINGERPRINT_SIZE];
    sqlite3_stmt *stmt = database_statement(database, row->fresh ? SQL_ROW_ADD : SQL_ROW_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_int64(stmt, 2, row->queue);
    bind_envelope(stmt, envelope, fingerprint);
    bind_places(stmt, places);
    database_bind_text(stmt, 20, row->mark);
    return database_step(database, stmt, err);
}

/* The row's new bytes go into the packs, what they replace is not referred to any more. */
static enum status move_bytes(struct database *database, const struct row *row,
                              struct places *places, struct err *err) {
    struct packs *packs = database->packs;
    packs_drop(packs, places->envelope);
    places->envelope = packs_put(packs, row->seq, PACK_ENVELOPE, row->envelope);
    if (!row->body.ptr)
        return STATUS_OK;
    bool old = !row->fresh && places->body.at == 0;
    packs_drop(packs, places->body);
    places->body = packs_put(packs, row->seq, PACK_BODY, row->body);
    return old ? delete_old_body(database, row->seq, err) : STATUS_OK;
}

static enum status write_decoded(struct database *database, struct error_texts *texts,
                                 const struct row *row, const struct envelope *envelope,
                                 struct err *err) {
    struct places places = {0};
    bool found;
    enum status status = STATUS_OK;
    if (!row->fresh)
        status = take_places(database, SQL_ROW_PLACES, row->seq, &places, &found, err);
    int64_t before = places.error_id;
    if (status == STATUS_OK)
        status = error_texts_add(texts, database, envelope, &places.error_id, err);
    if (status == STATUS_OK)
        status = move_bytes(database, row, &places, err);
    if (status == STATUS_OK)
        status = write_message(database, row, envelope, &places, err);
    error_texts_drop(texts, before);
    return status;
}

static enum status read_envelope(const struct row *row, struct arena *arena, struct envelope *out,
                                 struct err *err) {
    enum status status = envelope_restore(row->envelope, arena, out, err);
    return status == STATUS_OK ? mark_read(row->mark, arena, out, err) : status;
}

enum status rows_write(struct database *database, struct error_texts *texts, const struct row *row,
                       struct err *err) {
    char memory[SCRATCH_BYTES]; /* is enough for nearly all */
    struct arena arena;
    struct envelope envelope;
    arena_init_fixed(&arena, memory, sizeof memory);
    enum status status = read_envelope(row, &arena, &envelope, err);
    if (status != STATUS_OK) {
        arena_init_heap(&arena, SCRATCH_BYTES);
        status = read_envelope(row, &arena, &envelope, err);
    }
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
    struct places places;
    bool found;
    enum status status = take_places(database, SQL_ROW_DELETE, seq, &places, &found, err);
    if (status == STATUS_OK && found && places.body.at == 0)
        status = delete_old_body(database, seq, err);
    packs_drop(database->packs, places.envelope);
    packs_drop(database->packs, places.body);
    error_texts_drop(texts, places.error_id);
    return status;
}
