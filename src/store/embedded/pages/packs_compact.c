#include "store/embedded/pages/packs_compact.h"

#include "store/embedded/pages/packs_refer.h"
#include "store/embedded/pages/packs_table.h"

struct pack_move {
    struct packs *packs;
    struct database *database;
    enum status status; /* of copying the records, not of reading them */
    struct err *err;
};

static enum status move(struct pack_move *moving, const struct pack_record *record) {
    bool wanted;
    enum status status = packs_refer(moving->database, record, &wanted, moving->err);
    if (status != STATUS_OK || !wanted)
        return status;
    struct pack_place place = packs_put(moving->packs, record->seq, record->part, record->bytes);
    packs_drop(moving->packs, record->place);
    sqlite3_stmt *stmt = database_statement(
        moving->database, record->part == PACK_ENVELOPE ? SQL_ROW_ENVELOPE_AT : SQL_ROW_BODY_AT);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)record->seq);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)place.at);
    return database_step(moving->database, stmt, moving->err);
}

static enum status visit(void *arg, const struct pack_record *record) {
    struct pack_move *moving = arg;
    moving->status = move(moving, record);
    return moving->status;
}

/* A pack that can never be emptied is not tried repeatedly, because that would hold up others. */
enum status packs_compact(struct packs *packs, const struct pack *pack, struct database *database,
                          struct err *err) {
    struct pack_move moving = {.packs = packs, .database = database, .err = err};
    enum status status = pack_walk(pack, visit, &moving, err);
    bool emptied = (int64_t)pack->live + pack->added <= 0;
    if (moving.status == STATUS_OK && (status != STATUS_OK || !emptied))
        packs_table_find(packs, pack->number)->stays = true;
    return status;
}
