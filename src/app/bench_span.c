#include "app/bench_span.h"

#include <time.h>

double bench_span_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool bench_span_is_stopped(const struct bench_span *span) {
    return span->stop && *span->stop;
}

bool bench_span_is_over(const struct bench_span *span, double begun, uint64_t done) {
    return done >= span->count || bench_span_is_stopped(span) ||
           (span->seconds > 0 && bench_span_now() - begun >= span->seconds);
}
