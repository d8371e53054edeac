/* packs_compact: reclaims the space of packs in which most bytes are unused. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_COMPACT_H
#define STORE_EMBEDDED_PAGES_PACKS_COMPACT_H

#include "store/embedded/pages/packs.h"

/* Called inside a transaction: copies the referenced records of that pack, and updates their rows.
 * The pack is removed when the transaction is settled. A pack that cannot be read, or whose
 * counters exceed its rows, stays, and packs_wasteful does not return it again until the next
 * start. */
enum status packs_compact(struct packs *packs, const struct pack *pack, struct database *database,
                          struct err *err);

#endif
