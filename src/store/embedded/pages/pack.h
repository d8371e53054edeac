/* pack: one file with the bytes of messages, to which rows of the SQLite file refer by place.
 *
 *   | header block | record | record | … | zeroes to the block's end | record | …
 *
 * Records are appended and never changed. The records of one fold start on a block of their own, so
 * that no block with synced bytes is written again. The head of a record never crosses a block: if
 * the rest of a block is shorter than a head, or a head has length 0, the next record starts on the
 * next block. */
#ifndef STORE_EMBEDDED_PAGES_PACK_H
#define STORE_EMBEDDED_PAGES_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "port/disk.h"

enum {
    PACK_BLOCK = 4096,
    PACK_HEAD_BYTES = 8, /* length and checksum, as in records of the journal */
    PACK_MARK_BYTES = 9, /* seq of the message, and which part of it */
    PACK_RECORD_BYTES = PACK_HEAD_BYTES + PACK_MARK_BYTES,
};

/* The offset in a place has 32 bits. */
#define PACK_OFFSET_MAX (UINT64_C(1) << 32)
enum { PACK_NUMBER_MAX = INT32_MAX };

enum pack_part { PACK_ENVELOPE = 1, PACK_BODY = 2 };

/* Where bytes are stored: number of the pack × 2³² + offset of the record. */
struct pack_place {
    uint64_t at;  /* 0: none */
    uint64_t len; /* of the bytes without head and mark */
};

/* The message that the bytes belong to. */
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
    uint64_t end;     /* the offset after its last record */
    uint64_t live;    /* size of the records that rows refer to */
    int64_t added;    /* change of `live` in the current transaction */
    bool unsaved;     /* its counters must be written to the SQLite file */
    bool doubted;     /* created in a transaction whose COMMIT failed */
    bool stays;       /* compaction could not empty it */
    bool lingers;     /* live is 0, but a row refers to it or its removal failed */
    unsigned readers; /* reads in progress */
    bool gone;        /* no row refers to it and its file is removed: its row is to be deleted */
    bool removed;     /* freed by its last reader */
};

/* Opens the file or, with `create`, creates or truncates it. NOT_FOUND: it does not exist. CORRUPT:
 * it is not a pack. IO: a system call failed. */
enum status pack_open(struct disk *disk, const char *dir, uint64_t number, bool create,
                      struct pack **out, struct err *err);
void pack_free(struct pack *pack);
/* For doctor: rewrites a damaged header. CORRUPT: the file contains no record of that pack. */
enum status pack_mend(struct disk *disk, const char *dir, uint64_t number);
enum status pack_remove_file(struct disk *disk, const char *dir, uint64_t number, struct err *err);
/* "0000000000000001.pack" */
bool pack_number(const char *name, uint64_t *out);

uint64_t pack_at(uint64_t number, uint64_t offset);
uint64_t pack_number_of(uint64_t at);
uint64_t pack_record_size(uint64_t len);
/* True if a record of that length can be at that place. For the thread that puts. */
bool pack_holds(const struct pack *pack, struct pack_place place);

/* Appends a record to *out, in the form that it has at `at`. */
void pack_put_record(struct buf *out, uint64_t at, uint64_t seq, enum pack_part part,
                     struct bytes bytes);
/* CORRUPT: there is no intact record of that length and that owner. The bytes live in the arena. */
enum status pack_read(const struct pack *pack, struct pack_place place, struct pack_owner owner,
                      struct arena *arena, struct bytes *out, struct err *err);
/* The same in two steps, for many records that are near each other. */
enum status pack_read_run(const struct pack *pack, uint64_t at, uint8_t *to, uint64_t len,
                          struct err *err);
enum status pack_record(const uint8_t *record, struct pack_place place, struct pack_owner owner,
                        struct bytes *out, struct err *err);
/* Checks that `len` bytes from `at` on are within the file; CORRUPT if not. Called before memory is
 * allocated for them, because the numbers come from the SQLite file. */
enum status pack_within(const struct pack *pack, uint64_t at, uint64_t len, struct err *err);
/* The size of the file, in whole blocks: never less than the end of its records. */
enum status pack_size(const struct pack *pack, uint64_t *out, struct err *err);
/* Calls `visit` with every intact record from offset `from` (start of a block) to `to`, and skips
 * damage; *lost is increased by the bytes that belong to no record. The record's bytes live for the
 * call. */
enum status pack_salvage(const struct pack *pack, uint64_t from, uint64_t to,
                         enum status (*visit)(void *arg, const struct pack_record *record),
                         void *arg, uint64_t *lost, struct err *err);
/* Calls `visit` with every record's place and owner up to `to`, without its bytes and unverified.
 * CORRUPT if a head is impossible. */
enum status pack_heads(const struct pack *pack, uint64_t to,
                       enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                       struct err *err);
/* Calls `visit` with every record up to `end`; stops at a status other than OK and returns it.
 * CORRUPT at the first damaged record. */
enum status pack_walk(const struct pack *pack,
                      enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                      struct err *err);

#endif
