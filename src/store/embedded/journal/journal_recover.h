/* journal_recover: crash recovery of the journal: replays the intact groups in order. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_RECOVER_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_RECOVER_H

#include "store/embedded/journal/journal_table.h"

struct journal_recover {
    uint64_t from;
    bool between_groups; /* `from` inside a group is CORRUPT */
    enum status (*replay)(void *arg, uint64_t position, struct bytes record);
    void *arg;
    uint64_t next_sequence; /* out: of the next group */
    uint64_t durable_end;   /* out: the position up to which the last group was written as synced */
};

/* The table must be linked. Replays as journal_open promises and sets the last segment's end. */
enum status journal_recover(struct journal_recover *recover, const struct journal_table *table,
                            struct err *err);
/* Syncs the last segment, so that everything that was replayed is durable. */
enum status journal_recover_secure(const struct journal_recover *recover,
                                   const struct journal_segment *last, struct err *err);

#endif
