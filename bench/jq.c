/* How fast the jq pool is: jobs of one simple program on a message of 1 KB, so many at a time.
 *   jq IMPOUND JOBS AT_ONCE
 * Prints {"per_s": …, "cpu_us": …, "first_ms": …}: the CPU time is the pool's and its helpers'; the
 * first job waits for its helper and for the compiler. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "jq/jq_pool.h"

enum { HELPERS = 2, PAD = 1000, TIMEOUT_MS = 60000 };

struct bench {
    struct jq *jq;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    size_t unstarted, unfinished;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_us(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Each job that is over makes room for the next one. */
static void next(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                 const struct err *err) {
    (void)truthy, (void)output;
    struct bench *bench = job->arg;
    if (status != STATUS_OK) {
        fprintf(stderr, "jq: %s\n", err->text);
        exit(1);
    }
    pthread_mutex_lock(&bench->mutex);
    bool more = bench->unstarted > 0;
    bench->unstarted -= more;
    if (--bench->unfinished == 0)
        pthread_cond_signal(&bench->over);
    pthread_mutex_unlock(&bench->mutex);
    if (more)
        bench->jq->vtable->start(bench->jq, job);
}

/* Seconds. */
static double run(struct bench *bench, struct bytes input, size_t jobs, size_t at_once) {
    struct jq_job *slots = calloc(at_once, sizeof *slots);
    if (!slots)
        abort();
    double start = now_s();
    bench->unfinished = jobs;
    bench->unstarted = jobs - at_once;
    for (size_t i = 0; i < at_once; i++) {
        slots[i] = (struct jq_job){BYTES(".n = .n + 1"), input, next, bench};
        bench->jq->vtable->start(bench->jq, &slots[i]);
    }
    pthread_mutex_lock(&bench->mutex);
    while (bench->unfinished > 0)
        pthread_cond_wait(&bench->over, &bench->mutex);
    pthread_mutex_unlock(&bench->mutex);
    free(slots);
    return now_s() - start;
}

int main(int count, char **arguments) {
    char pad[PAD + 1], input[PAD + 64];
    size_t jobs = count == 4 ? strtoul(arguments[2], NULL, 10) : 0;
    size_t at_once = count == 4 ? strtoul(arguments[3], NULL, 10) : 0;
    if (at_once == 0 || jobs < at_once)
        return fprintf(stderr, "usage: jq IMPOUND JOBS AT_ONCE\n"), 2;
    memset(pad, 'x', PAD);
    pad[PAD] = '\0';
    snprintf(input, sizeof input, "{\"n\":1,\"pad\":\"%s\"}", pad);
    struct bench bench = {.mutex = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
    bench.jq = jq_pool_new(&(struct jq_pool_options){
        .program = arguments[1], .helpers = HELPERS, .timeout_ms = TIMEOUT_MS});
    double first = run(&bench, bytes_of(input), 1, 1);
    double rest = run(&bench, bytes_of(input), jobs, at_once);
    bench.jq->vtable->free(bench.jq);
    printf("{\"per_s\": %.0f, \"cpu_us\": %.1f, \"first_ms\": %.1f}\n", (double)jobs / rest,
           (cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN)) / (double)jobs, first * 1e3);
    return 0;
}
