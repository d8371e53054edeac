#include "store/embedded/pages/packs_refer.h"

enum status packs_refer(struct database *database, const struct pack_record *record, bool *out,
                        struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROW_PLACES);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)record->seq);
    int column = record->part == PACK_ENVELOPE ? 1 : 3; /* index in DATABASE_PLACES */
    enum status status = STATUS_OK;
    *out = false;
    while (database_next(database, stmt, &status, err))
        *out = (uint64_t)sqlite3_column_int64(stmt, column) == record->place.at;
    return status;
}

struct asking {
    struct database *database;
    struct packs_reference *found;
    struct err *err;
};

static enum status ask(void *arg, const struct pack_record *record) {
    struct asking *asking = arg;
    bool is = false;
    enum status status =
        asking->found->is ? STATUS_OK : packs_refer(asking->database, record, &is, asking->err);
    if (is)
        *asking->found = (struct packs_reference){true, record->seq};
    return status;
}

enum status packs_refer_behind(const struct pack *pack, uint64_t from, uint64_t to,
                               struct database *database, struct packs_reference *out,
                               struct err *err) {
    struct asking asking = {database, out, err};
    uint64_t lost = 0;
    *out = (struct packs_reference){0};
    return pack_salvage(pack, from, to, ask, &asking, &lost, err);
}

/* Scans all rows, because a damaged record hides the records after it. */
static enum status scan(const struct pack *pack, struct database *database,
                        struct packs_reference *out, struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ROWS_IN_PACK);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)pack_at(pack->number, 0));
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)pack_at(pack->number, PACK_OFFSET_MAX - 1));
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err))
        *out = (struct packs_reference){true, (uint64_t)sqlite3_column_int64(stmt, 0)};
    return status;
}

enum status packs_refer_any(const struct pack *pack, struct database *database,
                            struct packs_reference *out, struct err *err) {
    struct asking asking = {database, out, err};
    uint64_t size = 0;
    *out = (struct packs_reference){0};
    enum status status = pack_size(pack, &size, err);
    if (status == STATUS_OK)
        status = pack_heads(pack, size, ask, &asking, err);
    return status == STATUS_CORRUPT && !out->is ? scan(pack, database, out, err) : status;
}
