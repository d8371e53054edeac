/* journal_recover: what a crash left is read back, in order. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_RECOVER_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_RECOVER_H

#include "store/embedded/journal/journal_table.h"

struct journal_recover {
    uint64_t from;
    bool between_groups; /* `from` inside a group is damage */
    enum status (*replay)(void *arg, uint64_t position, struct bytes record);
    void *arg;
    uint64_t next_sequence; /* set: of the next group */
    uint64_t durable_end;   /* set: what the last group knew to be synced */
};

/* The table is linked already. Replays as journal_open promises and sets the last segment's end. */
enum status journal_recover(struct journal_recover *recover, const struct journal_table *table,
                            struct err *err);
/* Makes the last segment as safe as if journal_sync had answered for all that was replayed. */
enum status journal_recover_secure(const struct journal_recover *recover,
                                   const struct journal_segment *last, struct err *err);

#endif
