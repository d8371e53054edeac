/* packs_refer: checks whether a row of the SQLite file refers to a record of a pack. Used before
 * bytes of a pack are overwritten or its file is removed, because the counters that show that it is
 * unused come from a file that may be damaged. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_REFER_H
#define STORE_EMBEDDED_PAGES_PACKS_REFER_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/pages/pack.h"

struct packs_reference {
    bool is;
    uint64_t seq; /* of the first message that refers to it */
};

enum status packs_refer(struct database *database, const struct pack_record *record, bool *out,
                        struct err *err);
/* Checks every intact record from offset `from` (start of a block) to `to`. */
enum status packs_refer_behind(const struct pack *pack, uint64_t from, uint64_t to,
                               struct database *database, struct packs_reference *out,
                               struct err *err);
/* Checks every place of the pack. */
enum status packs_refer_any(const struct pack *pack, struct database *database,
                            struct packs_reference *out, struct err *err);

#endif
