#include "store/embedded/sqlite/rows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "store/tables/ready/entry.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/sqlite/list/time_bounds.h"

enum { SCRATCH_BYTES = 4096, DELETED_SEQ = 5 /* the column after DATABASE_PLACES */ };

/* ---- references of a row ---- */

struct places {
    int64_t error_id;
    struct pack_place envelope,
        body; /* 0: in the SQLite file, stored before packs were introduced */
};

static struct pack_place place_of(sqlite3_stmt *stmt, int column) {
    return (struct pack_place){(uint64_t)sqlite3_column_int64(stmt, column),
                               (uint64_t)sqlite3_column_int64(stmt, column + 1)};
}

/* Of the current row of a statement that selects DATABASE_PLACES first. */
static struct places places_of(sqlite3_stmt *stmt) {
    return (struct places){.error_id = sqlite3_column_int64(stmt, 0),
                           .envelope = place_of(stmt, 1),
                           .body = place_of(stmt, 3)};
}

/* All are none if there is no such row. */
static enum status read_places(struct database *database, uint64_t seq, struct places *out,
                               struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_PLACES);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    enum status status = STATUS_OK;
    *out = (struct places){0};
    while (database_next(database, stmt, &status, err))
        *out = places_of(stmt);
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

/* `first` is the index of the row's first value. */
static void bind_envelope(sqlite3_stmt *stmt, int first, const struct envelope *envelope,
                          const char fingerprint[DATABASE_FINGERPRINT_SIZE]) {
    bool letter = envelope->letter_id.len > 0;
    database_bind_text(stmt, first + 2, envelope->id);
    database_bind_text(stmt, first + 3, or_null(envelope->letter_id));
    database_bind_text(stmt, first + 4, or_null(envelope->dlq));
    database_bind_text(stmt, first + 5, bytes_of(state_text(envelope->state)));
    database_bind_text(stmt, first + 6,
                       letter ? bytes_of(cause_text(envelope->cause)) : BYTES_NONE);
    database_bind_text(stmt, first + 7, or_null(envelope->category));
    database_bind_text(stmt, first + 8, or_null(envelope->reason));
    database_bind_text(stmt, first + 9, or_null(envelope->error_type));
    database_bind_text(stmt, first + 10, envelope->failed ? bytes_of(fingerprint) : BYTES_NONE);
    database_bind_text(stmt, first + 11, envelope->key);
    sqlite3_bind_int64(stmt, first + 12, envelope->attempts);
    sqlite3_bind_int64(stmt, first + 13, envelope->created_at.ms);
    sqlite3_bind_int64(stmt, first + 14, envelope->dead_at.ms);
    sqlite3_bind_int64(stmt, first + 15, envelope->next_attempt_at.ms);
    sqlite3_bind_int64(stmt, first + 16, envelope->escalated_at.ms);
    sqlite3_bind_int64(stmt, first + 20, envelope->closes_key);
    sqlite3_bind_int64(stmt, first + 25, envelope->delay_ms);
    sqlite3_bind_int64(stmt, first + 26, envelope->lease_ms);
    database_bind_text(stmt, first + 27,
                       bytes_clip(bytes_of(envelope->content_hash), CONTENT_MARK_SIZE));
}

static void bind_places(sqlite3_stmt *stmt, int first, const struct places *places) {
    const uint64_t numbers[] = {places->envelope.at, places->envelope.len, places->body.at,
                                places->body.len};
    if (places->error_id != 0)
        sqlite3_bind_int64(stmt, first + 17, places->error_id);
    else
        sqlite3_bind_null(stmt, first + 17);
    database_bind_text(stmt, first + 18, BYTES(""));
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(stmt, first + 21 + i, (sqlite3_int64)numbers[i]);
}

/* The values of a row that is being written. */
struct row_draft {
    uint64_t seq;
    uint32_t queue;
    struct bytes mark;
    struct envelope envelope;
    struct places places;
    int64_t traits;
    char fingerprint[DATABASE_FINGERPRINT_SIZE];
};

static bool is_letter(const struct row_draft *draft) {
    return draft->envelope.dlq.len > 0;
}

/* The envelope was decoded. The places of its bytes are not known yet. */
static void begin_draft(struct row_draft *draft, const struct row *row) {
    draft->seq = row->seq;
    draft->queue = row->queue;
    draft->mark = row->mark;
    draft->places = (struct places){0};
    draft->traits = is_letter(draft) ? filter_signature_of(&draft->envelope, draft->queue) : 0;
    if (draft->envelope.failed)
        database_fingerprint(draft->envelope.fingerprint, draft->fingerprint);
}

/* Binds all values, because the statement may still have those of another row. */
static void bind_draft(sqlite3_stmt *stmt, int first, const struct row_draft *draft) {
    sqlite3_bind_int64(stmt, first, (sqlite3_int64)draft->seq);
    sqlite3_bind_int64(stmt, first + 1, draft->queue);
    bind_envelope(stmt, first, &draft->envelope, draft->fingerprint);
    bind_places(stmt, first, &draft->places);
    database_bind_text(stmt, first + 19, draft->mark);
    sqlite3_bind_int64(stmt, first + 28, draft->traits);
}

/* At most DATABASE_ROWS. */
static void spread_drafts(struct database *database, const struct row_draft *drafts, size_t count) {
    struct time_bounds_letter letters[DATABASE_ROWS];
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_letter(&drafts[i]))
            letters[found++] =
                (struct time_bounds_letter){drafts[i].traits, drafts[i].envelope.dead_at.ms};
    }
    time_bounds_add(database->spread, letters, found);
}

static enum status write_draft(struct database *database, enum database_sql which,
                               const struct row_draft *draft, struct err *err) {
    sqlite3_stmt *stmt = database_again(database, which);
    bind_draft(stmt, 1, draft);
    return database_step(database, stmt, err);
}

/* Puts the row's new bytes into the packs, and drops the bytes that they replace. */
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

/* Reads the places that the row referred to before, and updates the references to error texts. */
static enum status refer(struct database *database, struct error_texts *texts,
                         const struct row *row, struct row_draft *draft, struct err *err) {
    enum status status = STATUS_OK;
    begin_draft(draft, row);
    spread_drafts(database, draft, 1);
    if (!row->fresh)
        status = read_places(database, row->seq, &draft->places, err);
    error_texts_drop(texts, draft->places.error_id);
    if (status == STATUS_OK)
        status = error_texts_add(texts, database, &draft->envelope, &draft->places.error_id, err);
    return status;
}

/* Writes everything except the row itself. */
static enum status write_around(struct database *database, struct error_texts *texts,
                                const struct row *row, struct row_draft *draft, struct err *err) {
    enum status status = refer(database, texts, row, draft, err);
    return status == STATUS_OK ? move_bytes(database, row, &draft->places, err) : status;
}

static enum status read_envelope(const struct row *row, struct arena *arena, struct envelope *out,
                                 struct err *err) {
    enum status status = envelope_restore_facts(row->envelope, arena, out, err);
    return status == STATUS_OK ? mark_read(row->mark, arena, out, err) : status;
}

enum status rows_write(struct database *database, struct error_texts *texts, const struct row *row,
                       struct err *err) {
    struct row_draft draft;
    struct arena arena;
    arena_init_heap(&arena, SCRATCH_BYTES);
    enum status status = read_envelope(row, &arena, &draft.envelope, err);
    if (status == STATUS_OK)
        status = write_around(database, texts, row, &draft, err);
    if (status == STATUS_OK)
        status = write_draft(database, row->fresh ? SQL_ROW_ADD : SQL_ROW_SET, &draft, err);
    arena_free(&arena);
    return status;
}

enum status rows_adopt(struct database *database, struct error_texts *texts, const struct row *row,
                       struct pack_place place, struct err *err) {
    struct row_draft draft;
    struct arena arena;
    arena_init_heap(&arena, SCRATCH_BYTES);
    enum status status = read_envelope(row, &arena, &draft.envelope, err);
    if (status == STATUS_OK)
        status = refer(database, texts, row, &draft, err);
    if (status == STATUS_OK) {
        packs_drop(database->packs, draft.places.envelope);
        draft.places.envelope = place;
        status = write_draft(database, SQL_ROW_SET, &draft, err);
    }
    arena_free(&arena);
    return status;
}

/* ---- many at once ---- */

/* Starting a statement, with its table and its indexes, costs as much as writing a row. */
struct rows_batch {
    size_t count;
    struct row_draft drafts[DATABASE_ROWS];
    char memory[DATABASE_ROWS][SCRATCH_BYTES];
};

struct rows_batch *rows_batch_new(void) {
    struct rows_batch *batch = memory_grow(NULL, sizeof *batch);
    batch->count = 0;
    return batch;
}

void rows_batch_free(struct rows_batch *batch) {
    free(batch);
}

size_t rows_batch_count(const struct rows_batch *batch) {
    return batch->count;
}

bool rows_batch_draft(struct rows_batch *batch, struct packs *packs, const struct row *row) {
    assert(row->fresh && batch->count < DATABASE_ROWS);
    struct arena arena;
    arena_init_fixed(&arena, batch->memory[batch->count], SCRATCH_BYTES);
    struct row copy = *row;
    copy.envelope = arena_dup(&arena, row->envelope);
    struct row_draft *draft = &batch->drafts[batch->count];
    if (!copy.envelope.ptr || read_envelope(&copy, &arena, &draft->envelope, NULL) != STATUS_OK)
        return false;
    begin_draft(draft, row);
    draft->places.envelope = packs_put(packs, row->seq, PACK_ENVELOPE, row->envelope);
    if (row->body.ptr)
        draft->places.body = packs_put(packs, row->seq, PACK_BODY, row->body);
    batch->count++;
    return true;
}

static enum status write_full(struct rows_batch *batch, struct database *database,
                              struct err *err) {
    sqlite3_stmt *stmt = database_again(database, SQL_ROWS_ADD);
    for (int i = 0; i < DATABASE_ROWS; i++)
        bind_draft(stmt, 1 + i * DATABASE_ROW_VALUES, &batch->drafts[i]);
    return database_step(database, stmt, err);
}

enum status rows_batch_write(struct rows_batch *batch, struct database *database,
                             struct error_texts *texts, struct err *err) {
    enum status status = STATUS_OK;
    spread_drafts(database, batch->drafts, batch->count);
    for (size_t i = 0; status == STATUS_OK && i < batch->count; i++) {
        struct row_draft *draft = &batch->drafts[i];
        status = error_texts_add(texts, database, &draft->envelope, &draft->places.error_id, err);
    }
    bool full = batch->count == DATABASE_ROWS;
    if (status == STATUS_OK && full)
        status = write_full(batch, database, err);
    for (size_t i = 0; status == STATUS_OK && !full && i < batch->count; i++)
        status = write_draft(database, SQL_ROW_ADD, &batch->drafts[i], err);
    batch->count = 0;
    return status;
}

/* An escalation is the only part of the signature that a mark can change. */
static enum status spread_mark(struct database *database, uint64_t seq, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_TRAITS);
    enum status status = STATUS_OK;
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    while (database_next(database, stmt, &status, err)) {
        struct time_bounds_letter letter = {sqlite3_column_int64(stmt, 0) |
                                                filter_signature_escalated(),
                                            sqlite3_column_int64(stmt, 1)};
        time_bounds_add(database->spread, &letter, 1);
    }
    return status;
}

enum status rows_mark(struct database *database, uint64_t seq, const struct mark *mark,
                      struct bytes text, struct err *err) {
    enum status status = mark->escalated_at.ms != 0 ? spread_mark(database, seq, err) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_MARK);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    database_bind_text(stmt, 2, bytes_of(state_text(mark->state)));
    database_bind_text(stmt, 3, text);
    sqlite3_bind_int64(stmt, 4, mark->escalated_at.ms);
    sqlite3_bind_int64(stmt, 5, filter_signature_escalated());
    return database_step(database, stmt, err);
}

/* ---- deleting ---- */

static enum status let_go(struct database *database, struct error_texts *texts, uint64_t seq,
                          const struct places *places, struct err *err) {
    packs_drop(database->packs, places->envelope);
    packs_drop(database->packs, places->body);
    error_texts_drop(texts, places->error_id);
    return places->body.at == 0 ? delete_old_body(database, seq, err) : STATUS_OK;
}

/* At most DATABASE_ROWS; unbound parameters match no row. */
static enum status delete_some(struct database *database, struct error_texts *texts,
                               const uint64_t *seqs, size_t count, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROWS_DELETE);
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(stmt, 1 + (int)i, (sqlite3_int64)seqs[i]);
    enum status status = STATUS_OK, freed = STATUS_OK;
    while (freed == STATUS_OK && database_next(database, stmt, &status, err)) {
        struct places places = places_of(stmt);
        freed = let_go(database, texts, (uint64_t)sqlite3_column_int64(stmt, DELETED_SEQ), &places,
                       err);
    }
    sqlite3_reset(stmt);
    return status == STATUS_OK ? freed : status;
}

enum status rows_delete(struct database *database, struct error_texts *texts, const uint64_t *seqs,
                        size_t count, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i += DATABASE_ROWS)
        status = delete_some(database, texts, seqs + i,
                             count - i < DATABASE_ROWS ? count - i : DATABASE_ROWS, err);
    return status;
}
