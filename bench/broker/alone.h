/* alone: a broker's client library by itself, fetching and acknowledging in the portions that the
 * adapter has, and nothing else. */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include "base/instant.h"
#include "base/status.h"

struct alone_stretch {
    struct mono first, last; /* the first one came; the last one is acknowledged */
};

/* Consumes so many messages and acknowledges them all. */
struct alone_stretch alone_redis(const char *url, size_t count);
struct alone_stretch alone_rabbit(const char *url, size_t count);
struct alone_stretch alone_nats(const char *url, size_t count);
struct alone_stretch alone_kafka(const char *url, size_t count);

struct mono alone_now(void);
_Noreturn void alone_die(const char *words);

#endif
