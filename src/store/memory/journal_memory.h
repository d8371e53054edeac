/* journal_memory: port/journal.h in memory, for tests. It shares no code with the embedded journal,
 * so that two implementations are tested against the contract. Nodes share one medium, which
 * outlives the journals that are opened on it, as a disk or a database does. Tests can move a queue
 * to another owner, and can make appends fail. */
#ifndef STORE_JOURNAL_MEMORY_H
#define STORE_JOURNAL_MEMORY_H

#include "port/journal.h"

struct journal_medium;

struct journal_medium *journal_medium_new(void);
void journal_medium_free(struct journal_medium *medium);
/* From now on only claims with this epoch hold for the queue. Every queue starts at epoch 1. */
void journal_medium_grant(struct journal_medium *medium, uint32_t queue, uint64_t epoch);
/* The next `count` appends fail with this status. */
void journal_medium_fail(struct journal_medium *medium, enum status status, size_t count);

struct journal *journal_memory_new(struct journal_medium *medium);

#endif
