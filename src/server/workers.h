/* workers: a few threads for requests that may wait (lists, reads of SQLite, explain). */
#ifndef SERVER_WORKERS_H
#define SERVER_WORKERS_H

#include <stdbool.h>

enum {
    WORKERS_THREADS = 2,
    WORKERS_WAITING_MAX = 256, /* requests that wait for a worker; more are refused */
};

struct request;
struct workers;

struct workers *workers_new(void);
/* Has request->work done. False when too many wait already; the request is untouched then. */
bool workers_give(struct workers *workers, struct request *request);
/* The same for a request that was let in before: it is never refused. */
void workers_pass(struct workers *workers, struct request *request);
/* Nothing waits any more. */
void workers_free(struct workers *workers);

#endif
