/* bench_span: the length of a measurement: a number of times or of seconds, whichever is reached
 * first, or until it is stopped. */
#ifndef APP_BENCH_SPAN_H
#define APP_BENCH_SPAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct bench_span {
    uint64_t count;
    double seconds;                    /* 0: no limit */
    const volatile sig_atomic_t *stop; /* NULL: never stopped */
};

double bench_span_now(void); /* seconds */
bool bench_span_is_stopped(const struct bench_span *span);
bool bench_span_is_over(const struct bench_span *span, double begun, uint64_t done);

#endif
