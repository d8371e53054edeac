#include "store/sqlite/large_rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/sqlite/rows.h"

struct candidates {
    uint64_t *seqs;
    size_t count;
};

static enum status read_candidates(struct database *database, struct candidates *out,
                                   struct err *err) {
    static const char sql[] = "SELECT seq FROM messages WHERE body_len = ?1";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(database->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return database_trouble(database->db, sql, err);
    enum status status = STATUS_OK;
    sqlite3_bind_int64(stmt, 1, LARGE_STUB_LEN);
    while (database_next(database, stmt, &status, err)) {
        out->seqs = memory_grow(out->seqs, (out->count + 1) * sizeof *out->seqs);
        out->seqs[out->count++] = (uint64_t)sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    return status;
}

enum status large_rows_each(struct database *database,
                            void (*visit)(void *arg, uint64_t seq, const char *name, uint64_t size),
                            void *arg, struct err *err) {
    struct candidates candidates = {0};
    enum status status = read_candidates(database, &candidates, err);
    for (size_t i = 0; status == STATUS_OK && i < candidates.count; i++) {
        struct arena arena;
        struct row row;
        struct envelope envelope;
        char name[LARGE_NAME_SIZE];
        bool found;
        arena_init_heap(&arena, 4096);
        status = rows_read(database, candidates.seqs[i], &arena, &row, &found, err);
        if (status == STATUS_OK && found)
            status = envelope_restore(row.envelope, &arena, &envelope, err);
        if (status == STATUS_OK && found && large_is_stub(row.body, envelope.size, name))
            visit(arg, candidates.seqs[i], name, envelope.size);
        arena_free(&arena);
    }
    free(candidates.seqs);
    return status;
}
