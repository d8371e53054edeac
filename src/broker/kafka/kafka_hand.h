/* kafka_hand: what a Kafka source has at hand, and how far each of its partitions is settled. It
 * knows nothing of the network.
 *
 *   read ─▶ ready ──receive──▶ the engine's ──settle──▶ a line in the ledger, then committed
 *             ▲                     │
 *             └──────hand back──────┘
 *
 * The engine's thread and the source's share it. A function takes the lock once. */
#ifndef BROKER_KAFKA_HAND_H
#define BROKER_KAFKA_HAND_H

#include <pthread.h>

#include "base/list.h"
#include "broker/kafka/kafka_ledger.h"
#include "core/message.h"

enum {
    KAFKA_HAND_MAX = 1024,                   /* messages that are ready, when no more are read */
    KAFKA_HAND_BYTES_MAX = 16 * 1024 * 1024, /* or their bodies */
};

/* Where a message stands in its partition; in its own arena, found through held->source. */
struct kafka_item {
    struct list link;
    struct message *held;
    int32_t partition;
    int64_t offset;
    uint64_t print;
    struct mono due; /* not given before */
};

struct kafka_partition {
    bool ours;
    bool watched; /* not ours, but nobody else's lag either: we are no member of the group */
    struct kafka_ledger ledger;
    int64_t unseen;    /* from here on, records came after it was assigned; -1: not known yet */
    int64_t committed; /* as the server knows it */
    int64_t high;      /* the end of the log, as last known; -1: not known */
};

struct kafka_hand {
    pthread_mutex_t mutex;
    struct kafka_partition *partitions; /* by number */
    size_t partition_count;             /* that were ours or looked at, up to the highest of them */
    size_t topic_count;                 /* of the topic; 0: not known */
    struct list ready;
    size_t ready_count;
    uint64_t ready_bytes;
    uint64_t typical_bytes; /* of a body among those that were last read */
    bool wanted;
    bool starved; /* reading stopped because there was no room */
    bool settled; /* something was, and may be left to commit */
};

void kafka_hand_init(struct kafka_hand *hand);
void kafka_hand_free(struct kafka_hand *hand);

/* ---- the engine's side; see port/broker.h. True: the source's thread has something to do ---- */

bool kafka_hand_receive(struct kafka_hand *hand, struct mono now, struct message **out, size_t max,
                        size_t *count);
bool kafka_hand_settle(struct kafka_hand *hand, struct message *held);
void kafka_hand_back(struct kafka_hand *hand, struct message *held_take, struct mono due);
bool kafka_hand_want(struct kafka_hand *hand, bool wanted);
struct mono kafka_hand_next_wake(struct kafka_hand *hand);
uint64_t kafka_hand_lag(struct kafka_hand *hand);
/* All partitions of the topic are ours, and known to be read to their ends. */
bool kafka_hand_drained(struct kafka_hand *hand);

/* ---- the source's side ---- */

bool kafka_hand_wanted(struct kafka_hand *hand);
void kafka_hand_assign(struct kafka_hand *hand, int32_t number);
/* Drops what is ready of it. */
void kafka_hand_revoke(struct kafka_hand *hand, int32_t number);
/* How many records of this partition may be read: for how many there is room, and in its ledger
 * too. By bytes that is an estimate. */
size_t kafka_hand_room(struct kafka_hand *hand, int32_t number);
/* Its ledger is full: it cannot be read until its head is settled. */
bool kafka_hand_is_full(struct kafka_hand *hand, int32_t number);
/* Records were read, by offset; `high` is the end of their log. How many of them are ready. */
struct kafka_hand_record {
    struct message *held;
    int64_t offset;
    uint64_t print;
};
size_t kafka_hand_put(struct kafka_hand *hand, int32_t number,
                      const struct kafka_hand_record *records_take, size_t count, int64_t high);
/* There may be something to commit. */
bool kafka_hand_has_settled(struct kafka_hand *hand);
/* Offsets of our partitions that are not committed as far as they are settled; up to `max`. */
struct kafka_hand_commit {
    int32_t number;
    int64_t offset;
};
size_t kafka_hand_commits(struct kafka_hand *hand, struct kafka_hand_commit *out, size_t max);
void kafka_hand_committed(struct kafka_hand *hand, int32_t number, int64_t offset);
/* So many partitions the topic has. */
void kafka_hand_topic(struct kafka_hand *hand, size_t count);
/* We are a member: what lies in partitions of others is theirs. */
void kafka_hand_join(struct kafka_hand *hand);
/* What the server says of a partition, while we are no member. */
void kafka_hand_watch(struct kafka_hand *hand, int32_t number, int64_t committed, int64_t high);
/* What it says of one of ours: what the group committed (-1: not asked), and its end. */
void kafka_hand_seen(struct kafka_hand *hand, int32_t number, int64_t committed, int64_t high);
/* Reading has come to the end of one of ours. A log may end with what nobody is given: markers of
 * transactions, and the records of those that were aborted. They are no lag, until the log is seen
 * to have grown. */
void kafka_hand_at_end(struct kafka_hand *hand, int32_t number);

#endif
