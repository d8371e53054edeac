/* server_state: the state of a running server. Private to the server room.
 *
 * Lifetimes. A request is counted in `active` from its first byte until libmicrohttpd forgets it,
 * and in `suspended` while the store, the engine or a worker holds it. `stopping` refuses new
 * requests; `closing` also those whose body was still arriving. The loops may be stopped only when
 * `closing` is set and `suspended` is 0: libmicrohttpd must have no suspended connection then. */
#ifndef SERVER_SERVER_STATE_H
#define SERVER_SERVER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "server/api/queue_index.h"
#include "server/http/events.h"
#include "server/http/workers.h"
#include "server/metrics/metrics.h"
#include "server/server.h"

struct loop;
struct listener;

enum { SERVER_THREADS = 2 }; /* threads that run libmicrohttpd */

struct server {
    struct server_options options;
    char *host; /* as configured; options.host points here */
    struct instant began;
    struct loop *loops[SERVER_THREADS];
    size_t next_loop; /* the loop of the next connection; only used by the listener's thread */
    struct listener *listener;
    struct workers *workers;
    struct events *events;
    struct queue_index *queues;
    struct metrics_reasons *reasons;

    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t fewer;  /* active or suspended went down */
    size_t active, suspended;
    bool stopping, closing;
    struct rng rng;

    atomic_size_t connections; /* open connections in libmicrohttpd */
    atomic_bool trying;        /* a commit of store_probe.c is in progress */
};

#endif
