/* journal: where commits become durable, before anybody hears of them.
 *
 * Records are appended in groups. A group is durable as a whole or absent as a whole, also after a
 * crash in the middle of it. A position is a number that only grows: it finds a record again until
 * what stands before it has been dropped, because the rows (SQLite, another database) have it.
 *
 * A group says which queues its records are of, and at which epoch they are ours. A journal that
 * several nodes share refuses a group as FENCED when one of these queues has another owner by now:
 * the same check as the append, so that nothing of a former owner is ever recorded.
 *
 * One thread at a time appends and drops; any thread may read meanwhile. All of it may wait for a
 * disk or a network: none of it is called on the engine's thread. */
#ifndef PORT_JOURNAL_H
#define PORT_JOURNAL_H

#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"

/* A queue of a group, and the epoch at which it is ours (port/cluster.h). */
struct journal_claim {
    uint32_t queue;
    uint64_t epoch;
};

struct journal_append {
    const struct bytes *records;
    size_t count; /* at least 1 */
    const struct journal_claim *claims;
    size_t claim_count;
    uint64_t *positions; /* out: of each record */
    uint64_t end;        /* out: behind the group; what a fold of it may be dropped up to */
    size_t fenced;       /* out, FENCED: the claim that does not hold */
};

/* Bytes that were read with the record that was last asked for, so that whoever reads many, one
 * behind the other, asks seldom. */
struct journal_window {
    uint64_t ahead; /* so many bytes are read at once; 0: the record alone */
    uint64_t start; /* position of the first byte */
    uint64_t len, cap;
    uint8_t *bytes;
};

static inline void journal_window_free(struct journal_window *window) {
    free(window->bytes);
    *window = (struct journal_window){0};
}

typedef enum status journal_visit(void *arg, uint64_t position, struct bytes record);

struct journal;

struct journal_vtable {
    /* Once, before anything else: every record at or behind `from` in order (0: all that is there);
     * an answer that is not OK stops it and is returned. CORRUPT: what is there is damaged, or
     * `from` is not there. */
    enum status (*replay)(struct journal *journal, uint64_t from, journal_visit *visit, void *arg,
                          struct err *err);
    /* Whether one group may have so many records, of so many bytes together. */
    bool (*takes)(const struct journal *journal, size_t records, size_t bytes);
    /* OK: durable. FENCED, FULL (of its bound or of the disk), TOO_LARGE, IO: nothing of it is
     * there, now and after any crash. */
    enum status (*append)(struct journal *journal, struct journal_append *group, struct err *err);
    /* The record's bytes, in the window until it is used again. NOT_FOUND: it was dropped. */
    enum status (*read)(struct journal *journal, uint64_t position, struct journal_window *window,
                        struct bytes *out, struct err *err);
    /* What stands before `position` is not asked for any more. It may go, and need not go at once.
     */
    enum status (*drop)(struct journal *journal, uint64_t position, struct err *err);
    /* Behind the last group that is durable; 0: nothing was ever appended. From memory. */
    uint64_t (*end)(const struct journal *journal);
    uint64_t (*bytes)(const struct journal *journal); /* that it takes up. From memory */
    /* In quiet times, beside appends: makes the next ones faster. NULL: there is nothing to do. */
    enum status (*prepare)(struct journal *journal, struct err *err);
    /* The disk is full: gives back what it keeps for later. NULL: it keeps nothing. */
    void (*shrink)(struct journal *journal);
    void (*close)(struct journal *journal); /* frees; makes nothing durable */
};

struct journal {
    const struct journal_vtable *vtable;
};

#endif
