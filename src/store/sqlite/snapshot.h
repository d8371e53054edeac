/* snapshot: everything that one fold writes, taken at one moment under the store's mutex and
 * written without it. Entries in it stay in memory until it is settled. */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include "store/sqlite/parts.h"

enum { SNAPSHOT_RECORD_MAX = 1 << 30 };

struct snapshot_entry {
    struct entry *entry; /* to be looked at with the mutex only */
    uint64_t seq;
    uint32_t queue;
    bool forgotten;
    struct kept envelope, body;
    uint64_t envelope_place, body_place;
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

struct snapshot {
    uint64_t position, next_seq;
    struct snapshot_entry *entries;
    size_t entry_count;
    struct snapshot_count *counts;
    size_t count_count;
    struct snapshot_queue *queues;
    size_t queue_count;
};

/* With the mutex. */
struct snapshot *snapshot_take(struct sqlite_store *self);
/* Inside a transaction of the database. */
enum status snapshot_write(const struct snapshot *snapshot, struct journal *journal,
                           struct database *database, struct err *err);
/* With the mutex: what was written is clean, or everything waits for the next fold. */
void snapshot_settle(struct snapshot *snapshot, struct sqlite_store *self, bool written);
void snapshot_free(struct snapshot *snapshot);

#endif
