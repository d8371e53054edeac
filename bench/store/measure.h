/* measure: time, medians, and giving up. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

enum { MEASURE_ROUNDS_MAX = 16 };

double measure_now(void); /* seconds */
double measure_cpu(void); /* seconds of this process, all threads */
/* Seconds of the processor that the living threads of that name used. */
double measure_thread_cpu(const char *name);
double measure_median(const double *values, size_t count);
double measure_least(const double *values, size_t count);
double measure_most(const double *values, size_t count);
/* Ends the program when it is false: a bench that fails has no figures. */
void measure_check(bool good, const char *what);
size_t measure_rss_mib(void);

#endif
