/* packs_compact: gives back the room of packs that mostly hold what nobody refers to any more. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_COMPACT_H
#define STORE_EMBEDDED_PAGES_PACKS_COMPACT_H

#include "store/embedded/pages/packs.h"

/* Inside a transaction: what is still referred to in that pack is put anew, and its rows refer to
 * the copy. The pack goes when the transaction is settled; one that cannot be read, or of which
 * the counts say more than the rows, stays, and is not called wasteful again in this life. */
enum status packs_compact(struct packs *packs, const struct pack *pack, struct database *database,
                          struct err *err);

#endif
