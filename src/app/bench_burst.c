#include "app/bench_burst.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "app/bench_letters.h"
#include "base/containers/list.h"
#include "port/clock.h"

enum { LETTERS_A_MS = 128, POLL_NS = 5 * 1000 * 1000 };

/* Buffers whose commit is done wait here for their next commit. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct bench_letters *idle[BENCH_BURST_DEPTH_MAX];
    size_t idle_count;
    struct err err; /* error of the first commit that failed */
};

static void finished(struct store_commit *commit, enum status status) {
    struct gate *gate = commit->arg;
    pthread_mutex_lock(&gate->mutex);
    if (status != STATUS_OK && gate->err.status == STATUS_OK)
        gate->err = commit->err;
    gate->idle[gate->idle_count++] = CONTAINER_OF(commit, struct bench_letters, commit);
    pthread_cond_signal(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* NULL: a commit has failed. */
static struct bench_letters *take_idle(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    while (gate->idle_count == 0)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    struct bench_letters *letters =
        gate->err.status == STATUS_OK ? gate->idle[--gate->idle_count] : NULL;
    pthread_mutex_unlock(&gate->mutex);
    return letters;
}

static void wait_for_all(struct gate *gate, size_t depth) {
    pthread_mutex_lock(&gate->mutex);
    while (gate->idle_count < depth)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

enum status bench_burst_run(struct store *store, struct bytes queue,
                            const struct bench_burst *burst, double *per_second, struct err *err) {
    struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    uint32_t number = store->vtable->queue_number(store, queue);
    assert(burst->depth <= BENCH_BURST_DEPTH_MAX);
    while (gate.idle_count < burst->depth)
        gate.idle[gate.idle_count++] = bench_letters_new();
    int64_t now = clock_now(&clock_system).wall.ms;
    uint64_t done = 0;
    double begun = bench_span_now();
    struct bench_letters *letters;
    for (; !bench_span_is_over(&burst->span, begun, done) && (letters = take_idle(&gate));
         done += burst->group) {
        /* Ids grow with time, as those of producers do. */
        bench_letters_fill(letters, number, burst->first + done, burst->group,
                           (struct wall){now + (int64_t)(done / LETTERS_A_MS)});
        letters->commit.done = finished;
        letters->commit.arg = &gate;
        letters->commit.caller_waits = burst->depth == 1;
        store->vtable->submit(store, &letters->commit);
    }
    wait_for_all(&gate, burst->depth);
    *per_second = (double)done / (bench_span_now() - begun);
    for (size_t i = 0; i < burst->depth; i++)
        free(gate.idle[i]);
    *err = gate.err;
    return gate.err.status;
}

uint64_t bench_burst_drain(struct store *store, const struct bench_span *span) {
    uint64_t most = 0;
    while (!bench_span_is_stopped(span)) {
        struct store_health health;
        store->vtable->health(store, &health);
        if (health.unlisted > most)
            most = health.unlisted;
        if (health.unlisted == 0)
            break;
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    return most;
}
