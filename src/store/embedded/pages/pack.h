/* pack: one file of messages' bytes, which the SQLite file refers to by place.
 *
 *   | header block | record | record | … | zeroes to the block's end | record | …
 *
 * Records are appended and never changed. What one fold adds starts on a block of its own, so that
 * no block that holds synced bytes is written again, and a record's head never crosses a block: so
 * fewer bytes than a head at a block's end, and a head of length 0, mean the next block. */
#ifndef STORE_EMBEDDED_PAGES_PACK_H
#define STORE_EMBEDDED_PAGES_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "port/disk.h"

enum {
    PACK_BLOCK = 4096,
    PACK_HEAD_BYTES = 8, /* length and checksum, as the journal's records have */
    PACK_MARK_BYTES = 9, /* whose bytes they are, and which */
    PACK_RECORD_BYTES = PACK_HEAD_BYTES + PACK_MARK_BYTES,
};

/* A place has 32 bits for it. */
#define PACK_OFFSET_MAX (UINT64_C(1) << 32)
enum { PACK_NUMBER_MAX = INT32_MAX };

enum pack_part { PACK_ENVELOPE = 1, PACK_BODY = 2 };

/* Where bytes stand: number of the pack × 2³² + offset of the record. */
struct pack_place {
    uint64_t at;  /* 0: nowhere */
    uint64_t len; /* of the bytes alone */
};

/* Whose bytes they are. */
struct pack_owner {
    uint64_t seq;
    enum pack_part part;
};

struct pack_record {
    struct pack_place place;
    uint64_t seq;
    enum pack_part part;
    struct bytes bytes;
};

struct pack {
    struct disk *disk;
    struct disk_file *file;
    uint64_t number;
    uint64_t end;     /* offset behind its last record */
    uint64_t live;    /* bytes of records that are referred to */
    int64_t added;    /* to `live` by the transaction that is under way */
    bool unsaved;     /* its counts are to be written to the SQLite file */
    bool doubted;     /* begun by a transaction whose COMMIT failed */
    bool stays;       /* it could not be emptied */
    bool lingers;     /* it is dead, and its file could not be removed in this life */
    unsigned readers; /* under way */
    bool gone;        /* nobody refers to it and its file is removed: its row is to go too */
    bool removed;     /* its last reader frees it */
};

/* Opens or, with `create`, makes and empties it. NOT_FOUND, CORRUPT: it is not there, or no pack.
 * IO: the system could not say. */
enum status pack_open(struct disk *disk, const char *dir, uint64_t number, bool create,
                      struct pack **out, struct err *err);
void pack_free(struct pack *pack);
/* For doctor: a header that is damaged is written again. CORRUPT: no record of that pack stands in
 * the file. */
enum status pack_mend(struct disk *disk, const char *dir, uint64_t number);
enum status pack_remove_file(struct disk *disk, const char *dir, uint64_t number, struct err *err);
/* "0000000000000001.pack" */
bool pack_number(const char *name, uint64_t *out);

uint64_t pack_at(uint64_t number, uint64_t offset);
uint64_t pack_number_of(uint64_t at);
uint64_t pack_record_size(uint64_t len);
/* A record of that length can stand there. For the thread that puts. */
bool pack_holds(const struct pack *pack, struct pack_place place);

/* A record as it will stand at `at`, appended to *out. */
void pack_put_record(struct buf *out, uint64_t at, uint64_t seq, enum pack_part part,
                     struct bytes bytes);
/* CORRUPT: no whole record of that length and that owner stands there. The bytes live in the arena.
 */
enum status pack_read(const struct pack *pack, struct pack_place place, struct pack_owner owner,
                      struct arena *arena, struct bytes *out, struct err *err);
/* The same in two steps, for many that stand near each other. */
enum status pack_read_run(const struct pack *pack, uint64_t at, uint8_t *to, uint64_t len,
                          struct err *err);
enum status pack_record(const uint8_t *record, struct pack_place place, struct pack_owner owner,
                        struct bytes *out, struct err *err);
/* So many bytes from `at` on are within the file. CORRUPT: they are not. Before memory is taken for
 * them: the numbers come from the SQLite file. */
enum status pack_within(const struct pack *pack, uint64_t at, uint64_t len, struct err *err);
/* Bytes of the file, in whole blocks: never less than what counts in it. */
enum status pack_size(const struct pack *pack, uint64_t *out, struct err *err);
/* Calls `visit` with every whole record from offset `from` (a block's start) to `to`, also behind
 * damage; *lost grows by the bytes that are of none. The record's bytes live for the call. */
enum status pack_salvage(const struct pack *pack, uint64_t from, uint64_t to,
                         enum status (*visit)(void *arg, const struct pack_record *record),
                         void *arg, uint64_t *lost, struct err *err);
/* Calls `visit` with every record's place and owner up to `to`, without its bytes and unchecked.
 * CORRUPT where none can stand. */
enum status pack_heads(const struct pack *pack, uint64_t to,
                       enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                       struct err *err);
/* Calls `visit` with every record up to `end`; a non-OK answer stops and is returned. CORRUPT at
 * the first that is not whole. */
enum status pack_walk(const struct pack *pack,
                      enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                      struct err *err);

#endif
