#include "store/embedded/sqlite/rows_verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/tables/ready/entry.h"
#include "store/tables/mark.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/sqlite/rows.h"

enum { ROWS_AT_ONCE = 512, PLACES_A_ROW = 2, ARENA_CHUNK = 1 << 20 };

/* The enum below numbers the columns after DATABASE_FACTS. Rows are in the order in which they were
 * folded, so that few reads of the packs are enough for many rows. */
#define SELECT_ROWS                                                                                \
    "SELECT " DATABASE_FACTS ", envelope_at, envelope_len, body_at, body_len,"                     \
    " EXISTS (SELECT 1 FROM bodies WHERE bodies.seq = messages.seq),"                              \
    " queue IN (SELECT number FROM queues) FROM messages"
enum { ENVELOPE_COLUMN = 20, PLACES_COLUMN = 22, HAS_BODY_COLUMN = 26, KNOWN_COLUMN = 27 };

struct checked {
    uint64_t seq;
    struct row_facts facts;
    struct pack_place places[PLACES_A_ROW];
    struct bytes bytes[PLACES_A_ROW];
    enum status status;
    struct err err;
};

struct row_check {
    struct packs *packs;
    void (*damaged)(void *arg, uint64_t seq, const char *why);
    void *arg;
    struct arena arena;
    struct checked rows[ROWS_AT_ONCE];
    size_t count;
};

/* ---- one row ---- */

static void add_row(struct row_check *checking, sqlite3_stmt *stmt) {
    struct checked *row = &checking->rows[checking->count++];
    *row = (struct checked){.seq = (uint64_t)sqlite3_column_int64(stmt, 0)};
    row->status = rows_facts(stmt, &checking->arena, &row->facts, &row->err);
    for (int i = 0; i < PLACES_A_ROW; i++)
        row->places[i] =
            (struct pack_place){(uint64_t)sqlite3_column_int64(stmt, PLACES_COLUMN + 2 * i),
                                (uint64_t)sqlite3_column_int64(stmt, PLACES_COLUMN + 2 * i + 1)};
    if (row->places[0].at == 0)
        row->bytes[0] = arena_dup(&checking->arena, database_text(stmt, ENVELOPE_COLUMN));
    if (row->status == STATUS_OK && !sqlite3_column_int(stmt, KNOWN_COLUMN))
        row->status = err_set(&row->err, STATUS_CORRUPT, "its queue number %u is no queue's",
                              row->facts.queue);
    if (row->status == STATUS_OK && row->places[1].at == 0 &&
        !sqlite3_column_int(stmt, HAS_BODY_COLUMN))
        row->status = err_set(&row->err, STATUS_CORRUPT, "its body is missing");
}

static enum status read_rows(struct row_check *checking, size_t first, size_t count,
                             struct err *err) {
    struct packs_wish wishes[ROWS_AT_ONCE * PLACES_A_ROW];
    for (size_t i = 0; i < count * PLACES_A_ROW; i++) {
        struct checked *row = &checking->rows[first + i / PLACES_A_ROW];
        size_t part = i % PLACES_A_ROW;
        wishes[i] = (struct packs_wish){.place = row->places[part],
                                        .owner = {row->seq, part == 0 ? PACK_ENVELOPE : PACK_BODY},
                                        .bytes = &row->bytes[part]};
    }
    return packs_read_all(checking->packs, wishes, count * PLACES_A_ROW, &checking->arena, err);
}

/* Compares columns that are written with the envelope and later changed only by a mark. */
static const char *difference(const struct envelope *row, const struct envelope *said) {
    const struct {
        struct bytes row, said;
        const char *column;
    } texts[] = {{row->id, said->id, "id"},
                 {row->letter_id, said->letter_id, "letter_id"},
                 {row->dlq, said->dlq, "dlq"},
                 {row->category, said->category, "category"},
                 {row->reason, said->reason, "reason"},
                 {row->key, said->key, "key"}};
    const struct {
        int64_t row, said;
        const char *column;
    } numbers[] = {{row->state, said->state, "state"},
                   {row->attempts, said->attempts, "attempts"},
                   {row->created_at.ms, said->created_at.ms, "created_ms"},
                   {row->dead_at.ms, said->dead_at.ms, "dead_ms"},
                   {row->next_attempt_at.ms, said->next_attempt_at.ms, "due_ms"},
                   {row->escalated_at.ms, said->escalated_at.ms, "escalated_ms"},
                   {row->delay_ms, said->delay_ms, "delay_ms"},
                   {row->lease_ms, said->lease_ms, "lease_ms"},
                   {row->closes_key, said->closes_key, "closes_key"},
                   {row->failed, said->failed, "fingerprint"},
                   {row->failed ? (int64_t)row->fingerprint : 0,
                    said->failed ? (int64_t)said->fingerprint : 0, "fingerprint"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!bytes_eq(texts[i].row, texts[i].said))
            return texts[i].column;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].row != numbers[i].said)
            return numbers[i].column;
    }
    return strncmp(row->content_hash, said->content_hash, CONTENT_MARK_SIZE) != 0 ? "content_mark"
                                                                                  : NULL;
}

static void compare(struct row_check *checking, struct checked *row) {
    struct envelope said;
    if (row->status != STATUS_OK)
        return;
    row->status = envelope_restore_facts(row->bytes[0], &checking->arena, &said, &row->err);
    if (row->status == STATUS_OK)
        row->status = mark_read(row->facts.mark, &checking->arena, &said, &row->err);
    const char *column = row->status == STATUS_OK ? difference(&row->facts.envelope, &said) : NULL;
    if (column)
        row->status = err_set(&row->err, STATUS_CORRUPT,
                              "its column %s does not say what its envelope says", column);
}

/* ---- all ---- */

/* Rows are checked one by one only if there is damage. */
static void check_rows(struct row_check *checking) {
    struct err err;
    bool all = checking->count > 0 && read_rows(checking, 0, checking->count, &err) == STATUS_OK;
    for (size_t i = 0; i < checking->count; i++) {
        struct checked *row = &checking->rows[i];
        if (!all && row->status == STATUS_OK) {
            row->status = read_rows(checking, i, 1, &err);
            row->err = err;
        }
        compare(checking, row);
        if (row->status != STATUS_OK)
            checking->damaged(checking->arg, row->seq, row->err.text);
    }
    checking->count = 0;
    arena_free(&checking->arena);
    arena_init_heap(&checking->arena, ARENA_CHUNK);
}

static enum status verify(struct database *database, const char *sql, uint64_t seq,
                          void (*damaged)(void *arg, uint64_t seq, const char *why), void *arg,
                          struct err *err) {
    struct row_check *checking = memory_new(sizeof *checking);
    checking->packs = database->packs;
    checking->damaged = damaged;
    checking->arg = arg;
    arena_init_heap(&checking->arena, ARENA_CHUNK);
    sqlite3_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(database->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        status = database_trouble(database->db, sql, err);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    while (status == STATUS_OK && database_next(database, stmt, &status, err)) {
        add_row(checking, stmt);
        if (checking->count == ROWS_AT_ONCE)
            check_rows(checking);
    }
    check_rows(checking);
    sqlite3_finalize(stmt);
    arena_free(&checking->arena);
    free(checking);
    return status;
}

enum status rows_verify(struct database *database,
                        void (*damaged)(void *arg, uint64_t seq, const char *why), void *arg,
                        struct err *err) {
    return verify(database, SELECT_ROWS, 0, damaged, arg, err);
}

struct one {
    struct err *err;
    bool damaged;
};

static void note_damaged(void *arg, uint64_t seq, const char *why) {
    struct one *one = arg;
    err_set(one->err, STATUS_CORRUPT, "message %llu: %s", (unsigned long long)seq, why);
    one->damaged = true;
}

enum status rows_verify_one(struct database *database, uint64_t seq, struct err *err) {
    struct one one = {.err = err};
    enum status status =
        verify(database, SELECT_ROWS " WHERE seq = ?1", seq, note_damaged, &one, err);
    return status == STATUS_OK && one.damaged ? STATUS_CORRUPT : status;
}
