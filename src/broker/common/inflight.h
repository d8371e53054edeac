/* inflight: the messages that an adapter has fetched and whose acknowledgement the server has not
 * confirmed.
 *
 *   fetched ─▶ READY ──receive──▶ OUT ──settle──▶ DONE ──▶ SENT ──▶ gone
 *                ▲                 │                ▲ │      │
 *                └────hand back────┘    redelivered │ ▼      ▼ the connection ended
 *                                                   LOST ◀───┘
 *
 * READY deliveries wait here, OUT ones are in the engine's hands, DONE ones are to be acknowledged,
 * SENT ones were, and are remembered until the server has confirmed that.
 *
 * Where acknowledging is bound to a connection, its end makes every delivery stale: it cannot be
 * acknowledged until the server redelivers the message. A redelivery with the same id and body is
 * the same message: the delivery gets its new tag, in whatever state it is. LOST ones are settled
 * and wait for their redelivery; they are forgotten after a while, since the server may have got
 * the acknowledgement. Another body is another message, even if a producer gave it the same id.
 *
 * The engine's thread and the adapter's share it. A function takes the lock once. */
#ifndef BROKER_INFLIGHT_H
#define BROKER_INFLIGHT_H

#include <pthread.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "core/message.h"

enum {
    INFLIGHT_LOST_MAX = 4096, /* the oldest are dropped: another consumer was given them */
    INFLIGHT_RUN_MAX = 8192,  /* with more deliveries, no common acknowledgement is looked for */
};

enum delivery_state { DELIVERY_READY, DELIVERY_OUT, DELIVERY_DONE, DELIVERY_SENT, DELIVERY_LOST };
enum { DELIVERY_STATES = DELIVERY_LOST + 1 };

struct delivery {
    struct list link; /* in the list of its state */
    struct map_node by_id;
    enum delivery_state state;
    struct message *held; /* READY and OUT; NULL afterwards */
    struct mono due;      /* READY: not given before */
    struct bytes id;      /* of the message; the delivery's own copy */
    uint64_t print;       /* of its body */
    uint64_t tag;         /* what the server knows the delivery by: a number … */
    char *reply;          /* … or a text; NULL: none */
    bool unannounced;     /* its death is not reported to the server, which would publish that as an
                             advisory */
    bool letter;          /* once settled: it became a dead letter, rather than succeeded */
    bool stale;
    bool handed_back; /* READY: it was received before */
    bool keep;        /* READY: the server would count giving it back as a delivery */
};

/* The acknowledgement of a delivery. */
struct delivery_ack {
    uint64_t tag;
    char *reply; /* a copy, which the caller frees; NULL: none */
    bool letter;
};

struct inflight {
    pthread_mutex_t mutex;
    struct list states[DELIVERY_STATES];
    struct map by_id;
    size_t count, ready, lost; /* deliveries; count: in any state */
};

void inflight_init(struct inflight *inflight);
void inflight_free(
    struct inflight *inflight); /* with all that is READY; OUT ones are the engine's */

struct delivery *delivery_new(struct message *held_take);
void delivery_free(struct delivery *delivery); /* with `held` unless it is OUT */

/* ---- the engine's side; see port/broker.h ---- */

size_t inflight_receive(struct inflight *inflight, struct mono now, struct message **out,
                        size_t max);
void inflight_settle(struct inflight *inflight, struct message *held);
void inflight_hand_back(struct inflight *inflight, struct message *held_take, struct mono due);
struct mono inflight_next_wake(struct inflight *inflight);
size_t inflight_ready(struct inflight *inflight);

/* ---- the adapter's side ---- */

/* Deliveries in any state. */
size_t inflight_count(struct inflight *inflight);

/* A delivery of the server. `again`: the server says that it may be a redelivery. True: it is new
 * and READY; otherwise a known delivery got its tag and reply, and this one is freed. A delivery is
 * known again when it is stale, or with `whatever` in any case. */
bool inflight_put(struct inflight *inflight, struct delivery *delivery_take, bool again,
                  bool whatever);
/* Moves the first DONE delivery to SENT: false when there is none. The delivery itself may be
 * redelivered, and with that be changed, at any time. */
bool inflight_send(struct inflight *inflight, struct delivery_ack *out);
/* The same for all up to a tag, as far as every delivery with a lesser tag is settled; 0: none. */
uint64_t inflight_send_up_to(struct inflight *inflight);
/* The server has confirmed every acknowledgement that was SENT: those are forgotten. */
void inflight_acknowledged(struct inflight *inflight);
/* LOST deliveries are not redelivered any more: a message like one of them that comes is another.
 */
void inflight_forget_lost(struct inflight *inflight);
/* Acknowledgements that were SENT may not have arrived: they are DONE again. */
void inflight_send_again(struct inflight *inflight);
/* Takes a READY delivery that goes back to the server, the youngest first; NULL: none. Unless
 * `all`, not one that was handed back or that this costs something. */
struct delivery *inflight_return(struct inflight *inflight, bool all);
/* The connection ended. What was never received is dropped, and so is what was handed back and not
 * redelivered in a whole connection: it comes again as another. How many these are. */
size_t inflight_forget_tags(struct inflight *inflight);
/* Every delivery that is READY or OUT, for those that must be renewed. */
void inflight_each_open(struct inflight *inflight,
                        void (*visit)(const struct delivery *delivery, void *arg), void *arg);

#endif
