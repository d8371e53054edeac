/* redis_hand: the messages of one source between the server and the engine.
 *
 *   added ──▶ waiting ──▶ given ──▶ settled ──▶ forgotten: the server knows
 *                ▲          │
 *                └──────────┘ handed back
 *
 * The engine's thread and the source's share it; a mutex is inside. Every item is known by its tag
 * until it is forgotten, so that what the server gives again in this life is recognised. */
#ifndef BROKER_REDIS_HAND_H
#define BROKER_REDIS_HAND_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
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

struct redis_hand {
    pthread_mutex_t mutex;
    struct map items;
    struct list waiting;
    struct list recount; /* given again to the engine: the server should count that */
    struct list settled;
    size_t waiting_count;
    struct ahead ahead;
};

void redis_hand_init(struct redis_hand *hand, const struct broker_options *options);
void redis_hand_free(struct redis_hand *hand); /* what the engine has stays its own */

bool redis_hand_knows(struct redis_hand *hand, struct bytes tag);
/* Its envelope.id, redelivered and deliveries are set. */
void redis_hand_add(struct redis_hand *hand, struct bytes tag, struct message *held_take);
size_t redis_hand_waiting(struct redis_hand *hand);
size_t redis_hand_known(struct redis_hand *hand); /* by their tags */

/* For the engine: see port/broker.h. */
size_t redis_hand_receive(struct redis_hand *hand, struct mono now, struct message **out,
                          size_t max);
void redis_hand_settle(struct redis_hand *hand, struct message *held);
void redis_hand_back(struct redis_hand *hand, struct message *held_take, struct mono due);
struct mono redis_hand_next(struct redis_hand *hand);

/* For the source's thread. Up to `max` that are settled, which stay so until they are forgotten. */
size_t redis_hand_settled(struct redis_hand *hand, struct redis_item **out, size_t max);
/* Up to `max` of those to count, which are then the engine's alone. Tags are copied to the arena.
 */
struct redis_recount {
    struct bytes tag;
    uint32_t deliveries;
};
size_t redis_hand_recount(struct redis_hand *hand, struct arena *arena, struct redis_recount *out,
                          size_t max);
/* Up to `max` that wait and may go back to the server, the first to be given last: taken from the
 * waiting. What was there in another life stays, because here it is known to have been. */
size_t redis_hand_withdraw(struct redis_hand *hand, struct redis_item **out, size_t max);
/* A withdrawn one that could not go back. */
void redis_hand_keep(struct redis_hand *hand, struct redis_item *item);
void redis_hand_forget(struct redis_hand *hand, struct redis_item *const *items, size_t count);
/* Tags of all that are known, in the arena. */
size_t redis_hand_tags(struct redis_hand *hand, struct arena *arena, struct bytes **out);

#endif
