/* kafka_group: our member of a consumer group. It reads the partitions that are assigned to us into
 * a kafka_inflight, commits what is settled there, and notices trouble. Everything is called on the
 * source's thread; librdkafka's own threads only ring the wakeup.
 *
 *   watching ──wanted──▶ joining ──assigned──▶ reading ⇄ paused (not wanted)
 *                           ▲                     │
 *                           └───────revoked───────┘   what is settled is committed before
 *
 * A member is static (group.instance.id): its name survives restarts, so that it gets its
 * partitions back at once after a kill; they are not reassigned until its session times out.
 *
 * Each partition has a queue of its own in librdkafka, which is read only while there is room, so
 * that a partition whose offset tracker is full, or whose next record is a pointer that cannot be
 * followed, blocks no other. */
#ifndef BROKER_KAFKA_GROUP_H
#define BROKER_KAFKA_GROUP_H

#include "base/thread/mailbox.h"
#include "broker/common/connection_state.h"
#include "broker/kafka/consume/pointer_queue.h"
#include "broker/kafka/consume/kafka_follow.h"
#include "broker/kafka/kafka_message.h"

/* One partition's records. */
struct kafka_feed {
    rd_kafka_queue_t *queue;       /* NULL: not ours */
    bool looked;                   /* its committed offset is known */
    struct kafka_head head;        /* of its records' texts */
    struct pointer_queue pointers; /* read, and not in flight: a pointer is to be followed */
    bool told;                     /* its trouble was logged … */
    int64_t follow_ms;             /* … how long following it may take; 0: as at first … */
    struct mono next_follow;       /* … and not before this */
    size_t most; /* records in the queue, at most, since librdkafka was last made to look */
};

struct kafka_group {
    const struct kafka_url *url;
    const char *member; /* our name in the group, which survives restarts */
    struct kafka_inflight *inflight;
    struct connection_state *state;
    struct mailbox *wakeup;
    struct pool *pool;          /* for the messages that records become */
    struct body_memory *memory; /* that their bodies count towards; NULL: no limit */

    rd_kafka_t *client; /* NULL: not made */
    struct kafka_follow follow;
    struct kafka_feed *feeds;
    size_t feed_count;
    size_t partition_count;         /* of the topic, as last known; 0: not yet */
    size_t ahead_kib;               /* what librdkafka reads ahead of each */
    size_t turn, look, follow_turn; /* which partition is read, looked at, followed next */
    bool subscribed;                /* set when messages are first wanted */
    bool joined;                    /* partitions were assigned, some of them or none to us */
    bool paused;
    bool broken;     /* librdkafka gave up on this client */
    bool committing; /* an answer is awaited */
    bool alive;      /* something came since the last probe … */
    bool fed;        /* … and records since the last turn */
    struct err last; /* the last error of a broker connection */
    struct mono next_commit, next_probe, next_look, next_trim;
};

/* One turn: opens the client when it is time to, serves it, reads, commits, asks for the lag.
 * Returns until when to sleep unless the wakeup rings. */
struct mono kafka_group_turn(struct kafka_group *group, struct clock *clock);
/* Commits what is settled and leaves the group, for a bounded time. */
void kafka_group_close(struct kafka_group *group, struct clock *clock);

#endif
