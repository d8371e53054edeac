/* demo_worker: the other side of the tour's queues. Threads lease from them over the public API, as
 * any worker does, and answer as a price service and an AI provider would, bad days included. */
#ifndef CLI_DEMO_WORKER_H
#define CLI_DEMO_WORKER_H

#define DEMO_WORKER_ORDERS "demo-orders"
#define DEMO_WORKER_AI     "demo-ai"

struct demo_worker;

enum demo_worker_provider {
    DEMO_WORKER_UP,      /* it has model m1 */
    DEMO_WORKER_DOWN,    /* it fails for everybody */
    DEMO_WORKER_ROTATED, /* it has model m2, and m1 is gone */
};

/* The URL is borrowed until demo_worker_stop. A server that does not answer is asked again. */
struct demo_worker *demo_worker_start(const char *url);
void demo_worker_set(struct demo_worker *worker, enum demo_worker_provider provider);
/* Answers what it has leased, and frees it. */
void demo_worker_stop(struct demo_worker *worker);

#endif
