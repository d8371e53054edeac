#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double measure_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double measure_median(const double *values, size_t count) {
    double sorted[MEASURE_ROUNDS_MAX];
    measure_check(count > 0 && count <= MEASURE_ROUNDS_MAX, "the number of rounds");
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted[count / 2];
}

void measure_check(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

size_t measure_rss_mib(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %zu", &kib);
    if (status)
        fclose(status);
    return kib / 1024;
}
