/* kafka_ledger: what became of the records of one partition, and how far it may be committed.
 *
 * Kafka remembers one offset a partition: everything below it is done. Messages are settled in any
 * order, so each record that was read has a line here until all before it are settled:
 *
 *      next commit ─▶ [held] [settled] [settled] [held] [settled]  ◀─ read up to here
 *
 * A slow one at the head holds the commit and nothing else: records behind it are read and settled
 * until there are KAFKA_LEDGER_MAX lines.
 *
 * A partition may be taken away and come back, and is then read again from what was committed. What
 * was held or settled meanwhile is still known (`past`) and not given twice. A record counts as the
 * same if its offset and its print (a hash of its contents) are: after a topic was deleted and made
 * anew, other records stand at those offsets. */
#ifndef BROKER_KAFKA_LEDGER_H
#define BROKER_KAFKA_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KAFKA_LEDGER_MAX = 128 * 1024 };

enum kafka_ledger_state {
    KAFKA_LEDGER_HELD,
    KAFKA_LEDGER_SETTLED,
    KAFKA_LEDGER_DROPPED, /* in nobody's hands: it is given when it is read again */
};

struct kafka_ledger_line {
    int64_t offset;
    uint64_t print;
    enum kafka_ledger_state state;
};

struct kafka_ledger {
    struct kafka_ledger_line *lines; /* read since it was rewound, by offset */
    size_t first, count, cap;
    struct kafka_ledger_line *past; /* known from before that and not read again yet, by offset */
    size_t past_first, past_count;
    int64_t next; /* behind the last record that was read; -1: none was */
};

void kafka_ledger_init(struct kafka_ledger *ledger);
void kafka_ledger_free(struct kafka_ledger *ledger);
/* The partition was taken away: if it comes back, it is read from what was last committed. */
void kafka_ledger_rewind(struct kafka_ledger *ledger);
/* How many more may be read. None: it is full until the head is settled. */
size_t kafka_ledger_room(const struct kafka_ledger *ledger);
bool kafka_ledger_full(const struct kafka_ledger *ledger);
/* A record was read. True: it is to be given, and is held from now on; false: it is held or settled
 * already. MUST NOT be full. */
bool kafka_ledger_read(struct kafka_ledger *ledger, int64_t offset, uint64_t print);
/* Records that are not known (any more) are ignored. */
void kafka_ledger_settle(struct kafka_ledger *ledger, int64_t offset, uint64_t print);
void kafka_ledger_drop(struct kafka_ledger *ledger, int64_t offset, uint64_t print);
/* Everything below is settled; -1: nothing was read since it was rewound. */
int64_t kafka_ledger_commit(const struct kafka_ledger *ledger);

#endif
