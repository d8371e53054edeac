/* packs: the bytes of the messages that the SQLite file has rows of: envelopes and bodies, in files
 * beside it, so that they are written once and SQLite moves none of them about.
 *
 * One thread at a time (the fold) puts and drops, inside a transaction of the SQLite file:
 *
 *   packs_put, packs_drop …  →  packs_flush  →  COMMIT  →  packs_settle
 *
 * Bytes are safe before the transaction that refers to them is, and a pack is removed after the one
 * that last referred to it. How much of each pack is referred to stands in the SQLite file. Any
 * thread may read what a row refers to. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_H
#define STORE_EMBEDDED_PAGES_PACKS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/pages/pack.h"

struct packs;

struct packs_options {
    struct disk *disk;
    const char *dir;
    uint64_t pack_bytes; /* a pack that holds so many is not added to; 0: PACKS_BYTES */
    struct buf *report;  /* for doctor: told of packs that cannot be opened, which are left out */
};

enum { PACKS_BYTES = 64 << 20 };

/* All that the SQLite file knows of. CORRUPT: one is missing. IO: one could not be opened. */
enum status packs_open(const struct packs_options *options, struct database *database,
                       struct packs **out, struct err *err);
/* Others, which a crash left; before anything is put, and only when the SQLite file is known to be
 * the one that belongs here. */
void packs_remove_unknown(struct packs *packs);
void packs_free(struct packs *packs);

/* Trouble is told by packs_flush. */
struct pack_place packs_put(struct packs *packs, uint64_t seq, enum pack_part part,
                            struct bytes bytes);
void packs_drop(struct packs *packs, struct pack_place place); /* nowhere: nothing */
/* Everything that was put is on disk, and the counts are in the transaction. */
enum status packs_flush(struct packs *packs, struct database *database, struct err *err);
/* Not committed: COMMIT was never tried. In doubt: it was, and failed. */
enum packs_outcome { PACKS_COMMITTED, PACKS_NOT_COMMITTED, PACKS_IN_DOUBT };
void packs_settle(struct packs *packs, struct database *database, enum packs_outcome outcome);

/* A place whose bytes are wanted. */
struct packs_wish {
    struct pack_place place; /* nowhere: not wanted */
    struct pack_owner owner;
    struct bytes *bytes; /* out; in the arena */
};

/* NOT_FOUND: what referred to it is not so any more; look again. The bytes live in the arena. */
enum status packs_read(struct packs *packs, struct pack_place place, struct pack_owner owner,
                       struct arena *arena, struct bytes *out, struct err *err);
/* Many at once: neighbours are read together. Sorts the wishes. */
enum status packs_read_all(struct packs *packs, struct packs_wish *wishes, size_t count,
                           struct arena *arena, struct err *err);

/* The one that wastes most, if it wastes half of itself, nothing is added to it any more and it was
 * not tried in vain. */
const struct pack *packs_wasteful(const struct packs *packs);

#endif
