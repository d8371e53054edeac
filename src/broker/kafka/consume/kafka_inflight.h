/* kafka_inflight: the messages of a Kafka source in flight, and how far each of its partitions is
 * settled. It knows nothing of the network.
 *
 *   read ─▶ ready ──receive──▶ the engine's ──settle──▶ settled in the tracker, then committed
 *             ▲                     │
 *             └──────hand back──────┘
 *
 * The engine's thread and the source's share it. A function takes the lock once. */
#ifndef BROKER_KAFKA_INFLIGHT_H
#define BROKER_KAFKA_INFLIGHT_H

#include <pthread.h>

#include "base/containers/list.h"
#include "broker/kafka/consume/offset_tracker.h"
#include "core/message.h"

enum {
    KAFKA_INFLIGHT_MAX = 1024, /* messages that are ready, when no more are read */
    KAFKA_INFLIGHT_BYTES_MAX = 16 * 1024 * 1024, /* or their bodies */
};

/* The position of a message in its partition; in the message's arena, found through held->source.
 */
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
    bool watched; /* not assigned to us, and its lag is shown: we are no member of the group */
    struct offset_tracker tracker;
    int64_t unseen;    /* from here on, records came after it was assigned; -1: not known yet */
    int64_t committed; /* as the broker knows it */
    int64_t high;      /* the end of the log, as last known; -1: not known */
};

struct kafka_inflight {
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

void kafka_inflight_init(struct kafka_inflight *inflight);
void kafka_inflight_free(struct kafka_inflight *inflight);

/* ---- the engine's side; see port/broker.h. True: the source's thread has something to do ---- */

bool kafka_inflight_receive(struct kafka_inflight *inflight, struct mono now, struct message **out,
                            size_t max, size_t *count);
bool kafka_inflight_settle(struct kafka_inflight *inflight, struct message *held);
void kafka_inflight_hand_back(struct kafka_inflight *inflight, struct message *held_take,
                              struct mono due);
bool kafka_inflight_want(struct kafka_inflight *inflight, bool wanted);
struct mono kafka_inflight_next_wake(struct kafka_inflight *inflight);
uint64_t kafka_inflight_lag(struct kafka_inflight *inflight);
/* All partitions of the topic are ours, and known to be read to their ends. */
bool kafka_inflight_drained(struct kafka_inflight *inflight);

/* ---- the source's side ---- */

bool kafka_inflight_wanted(struct kafka_inflight *inflight);
void kafka_inflight_assign(struct kafka_inflight *inflight, int32_t number);
/* Drops what is ready of it. */
void kafka_inflight_revoke(struct kafka_inflight *inflight, int32_t number);
/* How many records of this partition may be read: for how many there is room, and in its
 * offset tracker too. By bytes that is an estimate. */
size_t kafka_inflight_room(struct kafka_inflight *inflight, int32_t number);
/* Its offset tracker is full: it cannot be read until its head is settled. */
bool kafka_inflight_is_full(struct kafka_inflight *inflight, int32_t number);
/* Records were read, by offset; `high` is the end of their log. How many of them are ready. */
struct kafka_inflight_record {
    struct message *held;
    int64_t offset;
    uint64_t print;
};
size_t kafka_inflight_put(struct kafka_inflight *inflight, int32_t number,
                          const struct kafka_inflight_record *records_take, size_t count,
                          int64_t high);
/* There may be something to commit. */
bool kafka_inflight_has_settled(struct kafka_inflight *inflight);
/* Offsets of our partitions that are not committed as far as they are settled; up to `max`. */
struct kafka_inflight_commit {
    int32_t number;
    int64_t offset;
};
size_t kafka_inflight_commits(struct kafka_inflight *inflight, struct kafka_inflight_commit *out,
                              size_t max);
void kafka_inflight_committed(struct kafka_inflight *inflight, int32_t number, int64_t offset);
/* So many partitions the topic has. */
void kafka_inflight_topic(struct kafka_inflight *inflight, size_t count);
/* We are a member: the partitions of others are not our lag. */
void kafka_inflight_join(struct kafka_inflight *inflight);
/* What the broker says of a partition, while we are no member. */
void kafka_inflight_watch(struct kafka_inflight *inflight, int32_t number, int64_t committed,
                          int64_t high);
/* What the broker says of one of our partitions: the committed offset (-1: not asked), and the end
 * of its log. */
void kafka_inflight_seen(struct kafka_inflight *inflight, int32_t number, int64_t committed,
                         int64_t high);
/* Reading has reached the end of one of our partitions. A log may end with records that no consumer
 * is given: markers of transactions, and records of aborted ones. They are no lag, until the log
 * has grown. */
void kafka_inflight_at_end(struct kafka_inflight *inflight, int32_t number);

#endif
