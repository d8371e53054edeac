/* packs: the bytes of the messages in the SQLite file: envelopes and bodies, in files beside it, so
 * that they are written once and SQLite never copies them.
 *
 * One thread at a time (the fold) puts and drops, inside a transaction of the SQLite file:
 *
 *   packs_put, packs_drop …  →  packs_flush  →  COMMIT  →  packs_settle
 *
 * Bytes are durable before the transaction that refers to them, and a pack is removed after the
 * transaction that removed the last reference. The SQLite file has the number of referenced bytes
 * of each pack. Any thread may read bytes to which a row refers. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_H
#define STORE_EMBEDDED_PAGES_PACKS_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/pages/pack.h"

struct packs;

struct packs_options {
    struct disk *disk;
    const char *dir;
    uint64_t pack_bytes; /* no record is appended to a pack of this size; 0: PACKS_BYTES */
    struct buf *report;  /* for doctor: packs that cannot be opened are reported here and skipped */
};

enum { PACKS_BYTES = 64 << 20 };

/* Opens all packs that the SQLite file lists. CORRUPT: one is missing. IO: one could not be opened.
 */
enum status packs_open(const struct packs_options *options, struct database *database,
                       struct packs **out, struct err *err);
/* Removes packs that the SQLite file does not list, which a crash left. Called before the first
 * put, and only if the SQLite file is known to belong to this directory. */
void packs_remove_unknown(struct packs *packs);
void packs_free(struct packs *packs);

/* Errors are returned by packs_flush. */
struct pack_place packs_put(struct packs *packs, uint64_t seq, enum pack_part part,
                            struct bytes bytes);
void packs_drop(struct packs *packs, struct pack_place place); /* no effect if `place` is none */
/* Makes all bytes that were put durable, and writes the counters in the transaction. */
enum status packs_flush(struct packs *packs, struct database *database, struct err *err);
/* Not committed: COMMIT was never tried. In doubt: COMMIT was tried and failed. */
enum packs_outcome { PACKS_COMMITTED, PACKS_NOT_COMMITTED, PACKS_IN_DOUBT };
void packs_settle(struct packs *packs, struct database *database, enum packs_outcome outcome);

/* A place to be read. */
struct packs_wish {
    struct pack_place place; /* none: nothing to read */
    struct pack_owner owner;
    struct bytes *bytes; /* out; in the arena */
};

/* NOT_FOUND: the row does not refer to that place any more; read the row again. The bytes live in
 * the arena. */
enum status packs_read(struct packs *packs, struct pack_place place, struct pack_owner owner,
                       struct arena *arena, struct bytes *out, struct err *err);
/* Reads many places: adjacent ones are read together. Sorts the wishes. */
enum status packs_read_all(struct packs *packs, struct packs_wish *wishes, size_t count,
                           struct arena *arena, struct err *err);

/* The pack with the most unused bytes, if they are half of it or more, it is not the current one,
 * and compaction of it did not fail. */
const struct pack *packs_wasteful(const struct packs *packs);

#endif
