/* journal: the write-ahead log. A commit is durable here before it is reported as done.
 *
 * Records are appended in groups. A group is durable as a whole or absent as a whole, also after a
 * crash in the middle of an append. A position is a number that only grows. It identifies a record
 * until the records before some later position are dropped, which happens once the rows (SQLite or
 * another database) have them.
 *
 * A group names the queues of its records, and the epoch at which this node owns each. A journal
 * that several nodes share refuses a group as FENCED if one of these queues has another owner by
 * now. The check and the append are one atomic step, so that no change by a former owner is ever
 * recorded.
 *
 * One thread at a time appends and drops; any thread may read meanwhile. All functions may wait for
 * a disk or a network, unless they say otherwise: none of them is called on the engine's thread. */
#ifndef PORT_JOURNAL_H
#define PORT_JOURNAL_H

#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"

/* A queue of a group, and the epoch at which this node owns it (port/cluster.h). */
struct journal_claim {
    uint32_t queue;
    uint64_t epoch;
};

struct journal_append {
    const struct bytes *records;
    size_t count; /* at least 1 */
    const struct journal_claim *claims;
    size_t claim_count;
    uint64_t *positions; /* out: the position of each record */
    /* Out: the position after the group; once the group is folded, drop may be called with it. */
    uint64_t end;
    size_t fenced; /* out, FENCED: index of the claim that does not hold */
};

/* A read-ahead buffer, so that reading many consecutive records needs few calls of the disk. */
struct journal_window {
    uint64_t ahead; /* number of bytes to read at once; 0: the record alone */
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
    /* Called once, before any other function. Visits every record at or after `from` in order (0:
     * from the first). If `visit` returns another status than OK, replay stops and returns it.
     * CORRUPT: the journal is damaged, or `from` is not in it. */
    enum status (*replay)(struct journal *journal, uint64_t from, journal_visit *visit, void *arg,
                          struct err *err);
    /* Whether one group may have this many records, with this many bytes together. */
    bool (*takes)(const struct journal *journal, size_t records, size_t bytes);
    /* OK: durable. FENCED, FULL (the size limit or the disk), TOO_LARGE, IO: nothing of the group
     * is in the journal, now and after any crash. */
    enum status (*append)(struct journal *journal, struct journal_append *group, struct err *err);
    /* The record's bytes, which stay in the window until its next use. NOT_FOUND: it was dropped.
     */
    enum status (*read)(struct journal *journal, uint64_t position, struct journal_window *window,
                        struct bytes *out, struct err *err);
    /* Records before `position` are not needed any more. They may be removed now or later. */
    enum status (*drop)(struct journal *journal, uint64_t position, struct err *err);
    /* The position after the last durable group; 0: nothing was ever appended. Answered from
     * memory. */
    uint64_t (*end)(const struct journal *journal);
    uint64_t (*bytes)(const struct journal *journal); /* its size. Answered from memory */
    /* Does work in advance to make later appends faster. Called when the store is idle; appends may
     * run at the same time. NULL: nothing to do. */
    enum status (*prepare)(struct journal *journal, struct err *err);
    /* The disk is full: releases space that is reserved for later. NULL: none is reserved. */
    void (*shrink)(struct journal *journal);
    void (*close)(struct journal *journal); /* frees; does not sync */
};

struct journal {
    const struct journal_vtable *vtable;
};

#endif
