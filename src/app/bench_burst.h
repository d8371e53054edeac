/* bench_burst: measures how many letters per second a store takes in durable commits. */
#ifndef APP_BENCH_BURST_H
#define APP_BENCH_BURST_H

#include "app/bench_span.h"
#include "port/store.h"

enum { BENCH_BURST_DEPTH_MAX = 64 };

struct bench_burst {
    uint64_t first; /* the number of the first letter */
    size_t group;   /* letters per commit */
    size_t depth;   /* commits in progress: with two, one is built while the other is synced */
    struct bench_span span;
};

/* The first commit that fails ends the run. */
enum status bench_burst_run(struct store *store, struct bytes queue,
                            const struct bench_burst *burst, double *per_second, struct err *err);
/* Waits until everything is in the database file, or the span is stopped; returns the largest
 * backlog seen. */
uint64_t bench_burst_drain(struct store *store, const struct bench_span *span);

#endif
