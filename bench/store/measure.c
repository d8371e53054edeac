#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double read_clock(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double measure_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double measure_cpu(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Linux tells it in nanoseconds; 0 of another thread. */
static unsigned long long thread_ns(const char *id, const char *name) {
    char path[512], comm[64] = "";
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", id);
    FILE *file = fopen(path, "r");
    if (file && fgets(comm, sizeof comm, file))
        comm[strcspn(comm, "\n")] = '\0';
    if (file)
        fclose(file);
    if (strcmp(comm, name) != 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", id);
    file = fopen(path, "r");
    if (file && fscanf(file, "%llu", &ns) != 1)
        ns = 0;
    if (file)
        fclose(file);
    return ns;
}

double measure_thread_cpu(const char *name) {
    DIR *tasks = opendir("/proc/self/task");
    unsigned long long ns = 0;
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        ns += thread_ns(entry->d_name, name);
    if (tasks)
        closedir(tasks);
    return (double)ns / 1e9;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void sort(const double *values, size_t count, double sorted[MEASURE_ROUNDS_MAX]) {
    measure_check(count > 0 && count <= MEASURE_ROUNDS_MAX, "the number of rounds");
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, ascending);
}

double measure_median(const double *values, size_t count) {
    double sorted[MEASURE_ROUNDS_MAX];
    sort(values, count, sorted);
    return sorted[count / 2];
}

double measure_least(const double *values, size_t count) {
    double sorted[MEASURE_ROUNDS_MAX];
    sort(values, count, sorted);
    return sorted[0];
}

double measure_most(const double *values, size_t count) {
    double sorted[MEASURE_ROUNDS_MAX];
    sort(values, count, sorted);
    return sorted[count - 1];
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
