#include "store/embedded/pages/large_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/sqlite/rows.h"

struct candidates {
    uint64_t *seqs;
    size_t count;
};

/* Selects by the length of a stub. */
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

static bool read_stub(struct database *database, uint64_t seq, struct reader_large *out) {
    struct arena arena;
    struct row row;
    struct envelope envelope;
    bool found = false;
    arena_init_heap(&arena, 4096);
    bool is_stub = rows_read(database, seq, &arena, &row, &found, NULL) == STATUS_OK && found &&
                   envelope_restore(row.envelope, &arena, &envelope, NULL) == STATUS_OK &&
                   large_is_stub(row.body, envelope.size, out->name);
    if (is_stub) {
        memcpy(out->content_hash, envelope.content_hash, sizeof out->content_hash);
        out->size = envelope.size;
    }
    arena_free(&arena);
    return is_stub;
}

enum status large_rows_each(struct database *database, large_rows_visit *visit, void *arg,
                            struct err *err) {
    struct candidates candidates = {0};
    enum status status = read_candidates(database, &candidates, err);
    for (size_t i = 0; status == STATUS_OK && i < candidates.count; i++) {
        struct reader_large found;
        if (read_stub(database, candidates.seqs[i], &found))
            visit(arg, candidates.seqs[i], &found);
    }
    free(candidates.seqs);
    return status;
}

/* Messages that the journal changed are visited with the changes in memory. */
static bool is_changed(struct sqlite_store *self, uint64_t seq) {
    const struct entry *entry = tables_find(&self->front.tables, seq);
    return entry && entry->changed;
}

enum status large_rows_held(struct sqlite_store *self, large_rows_visit *visit, void *arg,
                            struct err *err) {
    struct candidates seqs = {0};
    struct reader_large found;
    enum status worst = read_candidates(self->fold_db, &seqs, err);
    size_t in_file = seqs.count;
    LIST_EACH(node, &self->changes) {
        const struct entry *entry = CONTAINER_OF(node, struct entry, change);
        if (entry->stage != ENTRY_HELD)
            continue;
        seqs.seqs = memory_grow(seqs.seqs, (seqs.count + 1) * sizeof *seqs.seqs);
        seqs.seqs[seqs.count++] = entry->seq;
    }
    for (size_t i = 0; i < seqs.count; i++) {
        if (i < in_file && is_changed(self, seqs.seqs[i]))
            continue;
        if (reader_large(self, seqs.seqs[i], &found, err) != STATUS_OK)
            worst = STATUS_CORRUPT;
        else if (found.name[0])
            visit(arg, seqs.seqs[i], &found);
    }
    free(seqs.seqs);
    return worst;
}
