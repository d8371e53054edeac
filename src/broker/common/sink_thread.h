/* sink_thread: the thread that every sink has. It owns the connection to the server; publish only
 * posts an item to it. Items are published in the order in which they were posted.
 *
 *   start ──▶ ( turn: begin, publish, rest; wait )* ── free: closing ──▶ end ──▶ gone */
#ifndef BROKER_SINK_THREAD_H
#define BROKER_SINK_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/thread/mailbox.h"
#include "port/sink.h"

enum { SINK_THREAD_BATCH_MAX = 64 };

/* What the adapter does on the thread. Every wait in it is bounded, so that each item is answered
 * soon, also when the server hangs. */
struct sink_thread_work {
    const char *name;                 /* the thread's */
    void (*begin)(struct sink *sink); /* of each turn; NULL: nothing */
    /* Publishes the first one or more of at most SINK_THREAD_BATCH_MAX items, and returns how many.
     * Each is answered (item->done), here or in a later turn. */
    size_t (*publish)(struct sink *sink, struct sink_item **items, size_t count);
    struct mono (*rest)(struct sink *sink); /* when it wants its next turn; NULL: by a post alone */
    void (*end)(struct sink *sink);         /* closes the connection */
};

struct sink_thread {
    struct sink sink;
    const struct sink_thread_work *work;
    struct clock *clock;
    struct arena arena; /* for the adapter: the texts of its URL */
    struct mailbox mailbox;
    atomic_bool closing;
    pthread_t thread;
};

/* The adapter is filled in between. */
void sink_thread_init(struct sink_thread *self, const struct sink_vtable *vtable,
                      const struct sink_thread_work *work, const struct sink_options *options);
void sink_thread_start(struct sink_thread *self);
/* Waits for the thread to end. Nothing may be on its way. */
void sink_thread_free(struct sink_thread *self);
/* The turn of a thread that sleeps begins. From any thread. */
void sink_thread_wake(struct sink_thread *self);

/* ---- for the vtable; see port/sink.h ---- */

void sink_thread_publish(struct sink *sink, struct sink_item *item);

#endif
