/* workers: threads for requests that may block, in lanes, so that no request waits behind one of
 * another kind: health and metrics never wait for lists, and single messages never for exports. */
#ifndef SERVER_WORKERS_H
#define SERVER_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

enum workers_lane {
    WORKERS_HEALTH, /* /readyz and /metrics: read memory only */
    WORKERS_QUICK,  /* one message, counters, decisions about one letter */
    WORKERS_SLOW,   /* lists, searches, exports, imports, decisions about many letters */
    WORKERS_LANES
};

enum {
    WORKERS_HEALTH_THREADS = 1,
    WORKERS_QUICK_THREADS = 2,
    WORKERS_SLOW_THREADS = 2,
    WORKERS_THREADS_MAX = 2,
    /* Requests of a lane that wait for one of its threads; more are refused with 503. */
    WORKERS_HEALTH_WAITING_MAX = 256,
    WORKERS_QUICK_WAITING_MAX = 256,
    WORKERS_SLOW_WAITING_MAX = 64,
};

struct request;
struct workers;

struct workers *workers_new(void);
/* Queues request->work for the lane of its route. False if the lane's queue is full; the request is
 * unchanged then. */
bool workers_give(struct workers *workers, struct request *request);
/* The same for a request that a worker passes on: it is never refused. */
void workers_pass(struct workers *workers, struct request *request);
const char *workers_lane_text(enum workers_lane lane);
size_t workers_waiting_max(const struct request *request); /* of the request's lane */
/* Requests of the lane that wait, and those in progress. */
void workers_counts(struct workers *workers, enum workers_lane lane, size_t *waiting,
                    size_t *running);
/* Joins all threads. No request may be waiting. */
void workers_free(struct workers *workers);

#endif
