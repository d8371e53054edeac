/* bench_queue: messages through the built-in queue, the engine and a handler that does nothing:
 * pushed durably, handed over, recorded and settled. */
#ifndef APP_BENCH_QUEUE_H
#define APP_BENCH_QUEUE_H

#include "app/bench_span.h"
#include "base/status.h"

enum { BENCH_QUEUE_GROUP = 100 }; /* messages per push */

/* Measures messages per second, from the first push until the last message is settled. */
enum status bench_queue_run(const char *dir, const struct bench_span *span, double *per_second,
                            struct err *err);

#endif
