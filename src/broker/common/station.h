/* station: what the sources have in common that one thread serves. The thread owns the connection
 * to the server; the engine's thread touches what was fetched and the flags alone, and rings.
 *
 *   listen ──▶ ( turn )* ── free: closing ──▶ end ──▶ gone
 *
 * What was fetched lies on a shelf, or wherever the adapter has it: that one then has its own
 * functions for it. */
#ifndef BROKER_STATION_H
#define BROKER_STATION_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/bell.h"
#include "broker/common/contact.h"
#include "broker/common/shelf.h"

/* What the thread does. */
struct station_duty {
    const char *thread;                  /* its name */
    void (*turn)(struct broker *broker); /* what there is to do, and sleeps on the bell */
    void (*end)(struct broker *broker);  /* the last thing: says goodbye and hangs up */
};

struct station {
    struct broker broker;
    const struct station_duty *duty;
    struct clock *clock;
    struct arena arena;  /* for the adapter: the texts of its URL */
    struct shelf *shelf; /* the adapter's; NULL: none */
    struct contact contact;
    struct bell bell;
    atomic_bool wanted, closing;
    _Atomic uint64_t waiting; /* at the server, as last known */
    bool started;
    pthread_t thread;
};

/* Also begins the shelf, which station_free ends; NULL: it has none. */
void station_init(struct station *station, const struct broker_vtable *vtable,
                  const struct station_duty *duty, struct shelf *shelf,
                  const struct broker_options *options);
/* After the thread has ended, which this waits for. */
void station_free(struct station *station);

/* ---- for the vtable; see port/broker.h ---- */

void station_want(struct broker *broker, bool wanted);
void station_health(struct broker *broker, struct broker_health *out);
void station_listen(struct broker *broker, void (*ready)(void *arg), void *arg);

#define STATION_OUTSIDE .want = station_want, .health = station_health, .listen = station_listen

/* Of one that has a shelf: */
size_t station_receive(struct broker *broker, struct instant now, struct message **out, size_t max);
void station_settle(struct broker *broker, struct message *held);
void station_hand_back(struct broker *broker, struct message *held_take, struct instant due);
struct mono station_next_wake(struct broker *broker);
uint64_t station_lag(struct broker *broker);

#define STATION_SHELF                                                                              \
    .settle = station_settle, .hand_back = station_hand_back, .next_wake = station_next_wake,      \
    .lag = station_lag

#endif
