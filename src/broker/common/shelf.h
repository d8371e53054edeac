/* shelf: what an adapter has fetched and its server does not know to be settled yet.
 *
 *   fetched ─▶ READY ──receive──▶ OUT ──settle──▶ DONE ──▶ SENT ──▶ gone
 *                ▲                 │                ▲ │      │
 *                └────hand back────┘    given again │ ▼      ▼ the connection ended
 *                                                   LOST ◀───┘
 *
 * READY parcels are the shelf's, OUT ones are in the engine's hands, DONE ones are to be
 * acknowledged, SENT ones were, and are remembered until the server has surely heard it.
 *
 * Where acknowledging is bound to a connection, its end makes every parcel stale: it cannot be
 * acknowledged until the server gives the message again, which it does sooner or later. That one is
 * then not another message: the parcel gets its new tag, whoever has it. LOST ones are settled and
 * wait for that, and are forgotten when it takes too long: the server may have heard of them.
 * Another body is another message, though a producer gave it the same id.
 *
 * The engine's thread and the adapter's share it. A function takes the lock once. */
#ifndef BROKER_SHELF_H
#define BROKER_SHELF_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "core/message.h"

enum {
    SHELF_LOST_MAX = 4096, /* the oldest are dropped: somebody else was given them */
    SHELF_RUN_MAX = 8192,  /* with more on it, who was given first is not looked for */
};

enum parcel_place { PARCEL_READY, PARCEL_OUT, PARCEL_DONE, PARCEL_SENT, PARCEL_LOST };
enum { PARCEL_PLACES = PARCEL_LOST + 1 };

struct parcel {
    struct list link; /* in the list of its place */
    struct map_node by_id;
    enum parcel_place place;
    struct message *held; /* READY and OUT; NULL afterwards */
    struct mono due;      /* READY: not given before */
    struct bytes id;      /* of the message; the parcel's own copy */
    uint64_t print;       /* of its body */
    uint64_t tag;         /* how the server is told which one: a number … */
    char *reply;          /* … or a text; NULL: none */
    bool unannounced;     /* the server is not told that it died: that would come back as news */
    bool letter;          /* once settled: it died, rather than succeeded */
    bool stale;
    bool handed_back; /* READY: it was received before */
    bool keep;        /* READY: giving it back to the server would cost it something */
};

/* What the server is to be told of a parcel. */
struct parcel_word {
    uint64_t tag;
    char *reply; /* a copy, which the caller frees; NULL: none */
    bool letter;
};

struct shelf {
    pthread_mutex_t mutex;
    struct list places[PARCEL_PLACES];
    struct map by_id;
    size_t count, ready, lost; /* how many of those there are; count: in any place */
};

void shelf_init(struct shelf *shelf);
void shelf_free(struct shelf *shelf); /* with all that is READY; OUT ones are the engine's */

struct parcel *parcel_new(struct message *held_take);
void parcel_free(struct parcel *parcel); /* with `held` unless it is OUT */

/* ---- the engine's side; see port/broker.h ---- */

size_t shelf_receive(struct shelf *shelf, struct mono now, struct message **out, size_t max);
void shelf_settle(struct shelf *shelf, struct message *held);
void shelf_hand_back(struct shelf *shelf, struct message *held_take, struct mono due);
struct mono shelf_next_wake(struct shelf *shelf);
size_t shelf_ready(struct shelf *shelf);

/* ---- the adapter's side ---- */

/* All parcels, wherever they are. */
size_t shelf_count(struct shelf *shelf);

/* What the server gave. `again`: it says that it may have given it before. True: it is new and
 * READY; otherwise a parcel that was known has its tag and reply, and this one is freed. A parcel
 * is known again when it is stale, or with `whatever` in any case. */
bool shelf_put(struct shelf *shelf, struct parcel *parcel_take, bool again, bool whatever);
/* Moves what is DONE to SENT, one after the other: false when there is none. The parcel itself may
 * be given again, and with that be changed, at any time. */
bool shelf_send(struct shelf *shelf, struct parcel_word *out);
/* The same for all up to a tag, as far as whatever has a lesser one is settled, too; 0: none. */
uint64_t shelf_send_up_to(struct shelf *shelf);
/* The server has heard of everything SENT: it is forgotten. */
void shelf_heard(struct shelf *shelf);
/* What is LOST comes no more: one like it that comes is another. */
void shelf_forget_lost(struct shelf *shelf);
/* It may not have: everything SENT is DONE again. */
void shelf_unheard(struct shelf *shelf);
/* Takes a READY parcel that goes back to the server, the youngest first; NULL: none. Unless `all`,
 * not one that was handed back or that this costs something. */
struct parcel *shelf_return(struct shelf *shelf, bool all);
/* The connection ended. What was never received is dropped, and so is what was handed back and not
 * given again in a whole connection: it comes again as another. How many these are. */
size_t shelf_forget_tags(struct shelf *shelf);
/* The reply of every parcel that is READY or OUT, for those that must be renewed. */
void shelf_each_open(struct shelf *shelf, void (*visit)(const struct parcel *parcel, void *arg),
                     void *arg);

#endif
