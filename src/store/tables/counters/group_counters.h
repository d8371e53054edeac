/* group_counters: counts the letters of each DLQ by fingerprint. Updated with each change, so that
 * reading them is cheap. */
#ifndef STORE_TABLES_GROUP_COUNTERS_H
#define STORE_TABLES_GROUP_COUNTERS_H

#include "base/arena.h"
#include "port/letters.h"
#include "store/tables/ready/entry.h"

struct dlq_group {
    struct map_node node;
    struct list change; /* in groups->changes: changed since the last fold wrote it */
    const struct name *dlq;
    uint64_t fingerprint;
    uint64_t count, total;
    struct wall first_seen, last_seen;
    uint64_t sample;
};

struct group_counters {
    struct map map;
    struct list changes;
    size_t change_count;
    bool inexact; /* a letter was removed from a group that did not count it */
};

void group_counters_init(struct group_counters *groups);
void group_counters_free(struct group_counters *groups);
/* `before` NULL: the message is new. `after` NULL: it is removed. */
void group_counters_change(struct group_counters *groups, const struct entry_facts *before,
                           const struct entry_facts *after, uint64_t seq);
/* NULL: no letter with that fingerprint ever died into that DLQ. */
struct dlq_group *group_counters_find(const struct group_counters *groups, const struct name *dlq,
                                      uint64_t fingerprint);
/* Restores a group from its row in the file. */
void group_counters_restore(struct group_counters *groups, const struct name *dlq,
                            const struct letters_group *group);
/* As letters_groups in port/letters.h; dlq NULL: of all DLQs. */
size_t group_counters_read(const struct group_counters *groups, const struct name *dlq,
                           struct arena *arena, struct letters_group **out);

#endif
