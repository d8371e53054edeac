/* snapshot: everything that one fold writes, sealed at one moment under the store's mutex and
 * written later without it. Entries in it stay in memory until it is settled, their bytes need not:
 * snapshots wait in line while commits outrun the fold. They are written in the order in which they
 * were sealed, so what an earlier one holds is in the file when a later one is written. */
#ifndef STORE_EMBEDDED_SQLITE_SNAPSHOT_H
#define STORE_EMBEDDED_SQLITE_SNAPSHOT_H

#include "store/embedded/store_internal.h"

/* Small, because a million may wait. Number and queue of an entry never change; the rest of it is
 * to be looked at with the mutex only. */
struct snapshot_entry {
    struct entry *entry;
    uint64_t envelope_place,
        body_place;    /* PLACE_FILE: the file has it, or a fold before this one */
    struct blob *mark; /* NULL: none */
    bool forgotten;
    bool fresh; /* no fold before this one wrote it */
};

/* What of an entry was in memory when it was prepared. */
struct snapshot_bytes {
    struct kept envelope, body;
};

struct snapshot_count {
    const struct name *dlq, *category, *reason;
    enum count_kind kind;
    uint64_t count;
};

struct snapshot_queue {
    uint32_t number;
    const struct name *name;
    char *facts; /* NULL: none */
};

struct snapshot_age {
    const struct name *dlq;
    bool first; /* of a DLQ whose spans are all written anew */
    struct ages_span span;
};

struct snapshot_keep {
    struct keep *keep;
    struct kept value;
    struct wall expires;
};

struct snapshot_group {
    const struct name *dlq;
    struct letters_group group;
};

struct snapshot {
    struct snapshot *next;
    bool tried; /* and failed: the file may have its rows all the same */
    uint64_t position, next_seq;
    struct snapshot_entry *entries;
    struct snapshot_bytes *bytes; /* of each entry, once it is prepared */
    size_t entry_count;
    struct snapshot_count *counts;
    size_t count_count;
    struct snapshot_age *ages;
    size_t age_count;
    struct snapshot_group *groups;
    size_t group_count;
    struct snapshot_keep *keeps;
    size_t keep_count;
    struct snapshot_queue *queues;
    size_t queue_count;
};

/* With the mutex: all that changed since the last one. */
struct snapshot *snapshot_seal(struct sqlite_store *self);
/* With the mutex, before it is written: keeps the bytes that are in memory just now. */
void snapshot_prepare(struct snapshot *snapshot);
/* Inside a transaction of the database. */
enum status snapshot_write(const struct snapshot *snapshot, struct sqlite_store *self,
                           struct err *err);
/* It is written. The first takes the mutex, again and again; the second is called with it. */
void snapshot_settle_entries(const struct snapshot *snapshot, struct sqlite_store *self);
void snapshot_settle(struct snapshot *snapshot, struct sqlite_store *self);
void snapshot_free(struct snapshot *snapshot);

#endif
