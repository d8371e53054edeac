/* snapshot: the data of one fold, sealed at one moment under the store's mutex and written later
 * without it. Its entries stay in memory until it is settled, but their bytes need not: snapshots
 * are queued while commits are faster than folds. They are written in the order in which they were
 * sealed, so the data of an earlier one is in the file when a later one is written. */
#ifndef STORE_EMBEDDED_SQLITE_SNAPSHOT_H
#define STORE_EMBEDDED_SQLITE_SNAPSHOT_H

#include "store/embedded/store_internal.h"

/* Small, because a million may wait. The seq and queue of an entry never change; its other members
 * may be read only with the mutex. */
struct snapshot_entry {
    struct entry *entry;
    uint64_t envelope_place, body_place; /* PLACE_FILE: in the file, or in an earlier fold */
    struct blob *mark;                   /* NULL: none */
    bool forgotten;
    bool fresh; /* no earlier fold wrote it */
};

/* The bytes of an entry that were in memory when the snapshot was prepared. */
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
    bool first; /* the first span of a DLQ whose spans are all rewritten */
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
    bool tried; /* and failed: the file may have its rows anyway */
    uint64_t position, next_seq;
    struct snapshot_entry *entries;
    struct snapshot_bytes *bytes; /* of each entry, once the snapshot is prepared */
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

/* Called with the mutex: seals all changes since the previous snapshot. */
struct snapshot *snapshot_seal(struct sqlite_store *self);
/* Called with the mutex, before the write: adds references to the bytes that are in memory. */
void snapshot_prepare(struct snapshot *snapshot);
/* Called inside a transaction of the database. */
enum status snapshot_write(const struct snapshot *snapshot, struct sqlite_store *self,
                           struct err *err);
/* Called after the write. The first takes and releases the mutex repeatedly; the second is called
 * with it. */
void snapshot_settle_entries(const struct snapshot *snapshot, struct sqlite_store *self);
void snapshot_settle(struct snapshot *snapshot, struct sqlite_store *self);
void snapshot_free(struct snapshot *snapshot);

#endif
