/* groups: the letters of each DLQ by fingerprint, counted with each change and read without
 * counting. */
#ifndef STORE_GROUPS_H
#define STORE_GROUPS_H

#include "base/arena.h"
#include "port/letters.h"
#include "store/entry.h"

struct dlq_group {
    struct map_node node;
    struct list change; /* in groups->changes: since the fold last wrote it */
    const struct name *dlq;
    uint64_t fingerprint;
    uint64_t count, total;
    struct wall first_seen, last_seen;
    uint64_t sample;
};

struct groups {
    struct map map;
    struct list changes;
    size_t change_count;
    bool inexact; /* a letter left a group that did not count it */
};

void groups_init(struct groups *groups);
void groups_free(struct groups *groups);
/* NULL on either side: it was not held before, or is not held any more. */
void groups_change(struct groups *groups, const struct facts *before, const struct facts *after,
                   uint64_t seq);
/* NULL: no letter of that fingerprint ever died into that DLQ. */
struct dlq_group *groups_find(const struct groups *groups, const struct name *dlq,
                              uint64_t fingerprint);
/* As it was when it was last written. */
void groups_restore(struct groups *groups, const struct name *dlq,
                    const struct letters_group *group);
/* As store_vtable's groups says; dlq NULL: of all. */
size_t groups_read(const struct groups *groups, const struct name *dlq, struct arena *arena,
                   struct letters_group **out);

#endif
