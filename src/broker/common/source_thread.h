/* source_thread: the thread that every source has, and the functions of its table that are the same
 * for all. The thread owns the connection to the server; the engine's thread touches only the
 * messages in flight and the flags, and rings the wakeup.
 *
 *   listen ──▶ ( turn )* ── free: closing ──▶ end ──▶ gone
 *
 * Fetched messages are kept in a struct inflight, or in a table of the adapter's own, which then
 * has its own functions for them. */
#ifndef BROKER_SOURCE_THREAD_H
#define BROKER_SOURCE_THREAD_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/thread/wakeup.h"
#include "broker/common/connection_state.h"
#include "broker/common/inflight.h"

/* What the thread does. */
struct source_thread_work {
    const char *name;                    /* the thread's */
    void (*turn)(struct broker *broker); /* does what there is to do, then sleeps on the wakeup */
    void (*end)(struct broker *broker);  /* sends what was settled and closes the connection */
};

struct source_thread {
    struct broker broker;
    const struct source_thread_work *work;
    struct clock *clock;
    struct arena arena;        /* for the adapter: the texts of its URL */
    struct inflight *inflight; /* the adapter's; NULL: none */
    struct connection_state state;
    struct wakeup wakeup;
    atomic_bool wanted, closing;
    _Atomic uint64_t waiting; /* at the server, as last known */
    bool started;
    pthread_t thread;
};

/* Initialises `inflight` too, which source_thread_free frees; NULL: it has none. */
void source_thread_init(struct source_thread *self, const struct broker_vtable *vtable,
                        const struct source_thread_work *work, struct inflight *inflight,
                        const struct broker_options *options);
/* Waits for the thread to end. */
void source_thread_free(struct source_thread *self);

/* ---- for the vtable; see port/broker.h ---- */

void source_thread_want(struct broker *broker, bool wanted);
void source_thread_health(struct broker *broker, struct broker_health *out);
void source_thread_listen(struct broker *broker, void (*ready)(void *arg), void *arg);

#define SOURCE_THREAD_VTABLE                                                                       \
    .want = source_thread_want, .health = source_thread_health, .listen = source_thread_listen

/* Of one that has a struct inflight: */
size_t source_thread_receive(struct broker *broker, struct instant now, struct message **out,
                             size_t max);
void source_thread_settle(struct broker *broker, struct message *held);
void source_thread_hand_back(struct broker *broker, struct message *held_take, struct instant due);
struct mono source_thread_next_wake(struct broker *broker);
uint64_t source_thread_lag(struct broker *broker);

#define SOURCE_THREAD_INFLIGHT                                                                     \
    .settle = source_thread_settle, .hand_back = source_thread_hand_back,                          \
    .next_wake = source_thread_next_wake, .lag = source_thread_lag

#endif
