/* redis_inflight: the messages of one source between the server and the engine.
 *
 *   added ──▶ waiting ──▶ given ──▶ settled ──▶ forgotten: the server knows
 *                ▲          │
 *                └──────────┘ handed back
 *
 * The engine's thread and the source's share it; a mutex is inside. Every item is known by its tag
 * until it is forgotten, so that a redelivery to this process is recognised. */
#ifndef BROKER_REDIS_INFLIGHT_H
#define BROKER_REDIS_INFLIGHT_H

#include <pthread.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "broker/common/ahead.h"

struct redis_item {
    struct list link; /* in waiting, recount or settled */
    struct map_node by_tag;
    struct bytes tag;     /* owned */
    struct message *held; /* NULL: the engine has it */
    struct mono due;
    uint32_t deliveries;
    bool redelivered;
    bool handed_back;
};

struct redis_inflight {
    pthread_mutex_t mutex;
    struct map items;
    struct list waiting;
    struct list recount; /* given to the engine again: the server should count that as a delivery */
    struct list settled;
    size_t waiting_count;
    struct ahead ahead;
};

void redis_inflight_init(struct redis_inflight *inflight, const struct broker_options *options);
void redis_inflight_free(struct redis_inflight *inflight); /* what the engine has stays its own */

bool redis_inflight_knows(struct redis_inflight *inflight, struct bytes tag);
/* Its envelope.id, redelivered and deliveries are set. */
void redis_inflight_add(struct redis_inflight *inflight, struct bytes tag,
                        struct message *held_take);
size_t redis_inflight_waiting(struct redis_inflight *inflight);
size_t redis_inflight_known(struct redis_inflight *inflight); /* by their tags */

/* For the engine: see port/broker.h. */
size_t redis_inflight_receive(struct redis_inflight *inflight, struct mono now,
                              struct message **out, size_t max);
void redis_inflight_settle(struct redis_inflight *inflight, struct message *held);
void redis_inflight_hand_back(struct redis_inflight *inflight, struct message *held_take,
                              struct mono due);
struct mono redis_inflight_next(struct redis_inflight *inflight);

/* For the source's thread. Up to `max` that are settled, which stay so until they are forgotten. */
size_t redis_inflight_settled(struct redis_inflight *inflight, struct redis_item **out, size_t max);
/* Up to `max` of those to count, which are then the engine's alone. Tags are copied to the arena.
 */
struct redis_recount {
    struct bytes tag;
    uint32_t deliveries;
};
size_t redis_inflight_recount(struct redis_inflight *inflight, struct arena *arena,
                              struct redis_recount *out, size_t max);
/* Up to `max` that wait and may go back to the server, the first to be given last: taken from the
 * waiting. Messages that were recovered after a restart stay, because only here they are known to
 * be redelivered. */
size_t redis_inflight_withdraw(struct redis_inflight *inflight, struct redis_item **out,
                               size_t max);
/* A withdrawn one that could not go back. */
void redis_inflight_keep(struct redis_inflight *inflight, struct redis_item *item);
void redis_inflight_forget(struct redis_inflight *inflight, struct redis_item *const *items,
                           size_t count);
/* Tags of all that are known, in the arena. */
size_t redis_inflight_tags(struct redis_inflight *inflight, struct arena *arena,
                           struct bytes **out);

#endif
