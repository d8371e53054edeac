#include "store/sqlite/packs_check.h"

enum { ROWS_AT_ONCE = 512, PLACES_A_ROW = 2 };

/* As rows come in the order in which they were folded, many at once are few reads. */
static const char sql[] = "SELECT seq, envelope_at, envelope_len, body_at, body_len FROM messages"
                          " WHERE envelope_at <> 0 OR body_at <> 0";

struct checking {
    struct packs *packs;
    void (*unreadable)(void *arg, uint64_t seq, const char *why);
    void *arg;
    uint64_t seqs[ROWS_AT_ONCE];
    struct pack_place places[ROWS_AT_ONCE][PLACES_A_ROW];
    size_t count;
};

static enum status read_rows(struct checking *checking, size_t first, size_t count,
                             struct err *err) {
    struct packs_wish wishes[ROWS_AT_ONCE * PLACES_A_ROW];
    struct bytes bytes;
    for (size_t i = 0; i < count * PLACES_A_ROW; i++)
        wishes[i] = (struct packs_wish){
            checking->places[first + i / PLACES_A_ROW][i % PLACES_A_ROW], &bytes};
    struct arena arena;
    arena_init_heap(&arena, 1 << 20);
    enum status status = packs_read_all(checking->packs, wishes, count * PLACES_A_ROW, &arena, err);
    arena_free(&arena);
    return status;
}

/* One by one only where something is wrong. */
static void check_rows(struct checking *checking) {
    struct err err;
    if (checking->count > 0 && read_rows(checking, 0, checking->count, &err) != STATUS_OK) {
        for (size_t i = 0; i < checking->count; i++) {
            if (read_rows(checking, i, 1, &err) != STATUS_OK)
                checking->unreadable(checking->arg, checking->seqs[i], err.text);
        }
    }
    checking->count = 0;
}

static void add_row(struct checking *checking, sqlite3_stmt *stmt) {
    checking->seqs[checking->count] = (uint64_t)sqlite3_column_int64(stmt, 0);
    for (int i = 0; i < PLACES_A_ROW; i++)
        checking->places[checking->count][i] =
            (struct pack_place){(uint64_t)sqlite3_column_int64(stmt, 1 + 2 * i),
                                (uint64_t)sqlite3_column_int64(stmt, 2 + 2 * i)};
    checking->count++;
}

enum status packs_check(struct packs *packs, struct database *database,
                        void (*unreadable)(void *arg, uint64_t seq, const char *why), void *arg,
                        struct err *err) {
    struct checking checking = {.packs = packs, .unreadable = unreadable, .arg = arg};
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(database->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(database->db, sql, err);
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err)) {
        add_row(&checking, stmt);
        if (checking.count == ROWS_AT_ONCE)
            check_rows(&checking);
    }
    check_rows(&checking);
    sqlite3_finalize(stmt);
    return status;
}
