/* journal_memory: port/journal.h in memory, for tests, made apart from the embedded one so that two
 * hold the contract. Nodes share one medium, which outlives the journals that are opened on it, as
 * a disk or a database does; an owner can be taken off a queue, and appends can be made to fail. */
#ifndef STORE_JOURNAL_MEMORY_H
#define STORE_JOURNAL_MEMORY_H

#include "port/journal.h"

struct journal_medium;

struct journal_medium *journal_medium_new(void);
void journal_medium_free(struct journal_medium *medium);
/* From now on claims of this queue hold at this epoch alone. Every queue begins at epoch 1. */
void journal_medium_grant(struct journal_medium *medium, uint32_t queue, uint64_t epoch);
/* The next `count` appends fail with this status. */
void journal_medium_fail(struct journal_medium *medium, enum status status, size_t count);

struct journal *journal_memory_new(struct journal_medium *medium);

#endif
