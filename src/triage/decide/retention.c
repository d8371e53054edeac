/* retention: the thread that sweeps every DLQ's rule. Waits on a condition variable on the
 * monotonic clock. */
#include "triage/decide/retention.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread/thread.h"

enum { RULES_ARENA_CHUNK = 16 * 1024, LOOKS_PER_KEEP = 10 };
#define LEAST_MS 1000LL
#define MOST_MS  (3600LL * 1000)

struct retention {
    struct retention_options options;
    char *base_dir;
    pthread_t thread;
    pthread_mutex_t mutex; /* of `woken` */
    pthread_cond_t wake;
    bool woken;
    atomic_bool ending;
};

int64_t retention_interval_ms(const struct retention_rule *rules, size_t count) {
    int64_t shortest = RETENTION_NEVER;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < RETENTION_COUNT; k++)
            if (rules[i].keep_ms[k] < shortest)
                shortest = rules[i].keep_ms[k];
    int64_t interval = shortest / LOOKS_PER_KEEP;
    return interval < LEAST_MS ? LEAST_MS : interval > MOST_MS ? MOST_MS : interval;
}

static bool is_used(struct triage *triage, struct bytes dlq, struct arena *arena) {
    struct letters_dlq used;
    return letters_dlq(triage->store->letters, dlq, triage_now(triage).wall, arena, &used, NULL) ==
           STATUS_OK;
}

/* Sweeps all rules once; errors are logged, and retried at the next sweep. Returns the time until
 * then. */
static int64_t sweep_all(struct retention *retention) {
    const struct retention_options *options = &retention->options;
    struct arena arena;
    struct retention_rule *rules;
    arena_init_heap(&arena, RULES_ARENA_CHUNK);
    size_t count = options->rules(options->arg, &arena, &rules);
    for (size_t i = 0; i < count && !retention->ending; i++) {
        uint64_t gone = 0;
        struct err err;
        if (!is_used(options->triage, rules[i].dlq, &arena))
            continue;
        if (retention_sweep(options->triage, bytes_of(retention->base_dir), &rules[i],
                            &retention->ending, &gone, &err) != STATUS_OK)
            log_error("retention of %.*s: %s", BYTES_ARG(rules[i].dlq), err.text);
        if (gone > 0)
            log_info("retention of %.*s: %llu letters", BYTES_ARG(rules[i].dlq),
                     (unsigned long long)gone);
    }
    int64_t interval = retention_interval_ms(rules, count);
    arena_free(&arena);
    return interval;
}

static void wait_for(struct retention *retention, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    pthread_mutex_lock(&retention->mutex);
    int code = 0;
    while (!retention->woken && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&retention->wake, &retention->mutex, &until);
    retention->woken = false;
    pthread_mutex_unlock(&retention->mutex);
}

static void *run(void *arg) {
    struct retention *retention = arg;
    while (!retention->ending)
        wait_for(retention, sweep_all(retention));
    return NULL;
}

struct retention *retention_start(const struct retention_options *options) {
    assert(options->triage && options->rules);
    struct retention *retention = memory_new(sizeof *retention);
    pthread_condattr_t monotonic;
    retention->options = *options;
    retention->base_dir = bytes_dup(options->base_dir);
    pthread_mutex_init(&retention->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&retention->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    thread_start(&retention->thread, "retention", run, retention);
    return retention;
}

void retention_wake(struct retention *retention) {
    if (!retention)
        return;
    pthread_mutex_lock(&retention->mutex);
    retention->woken = true;
    pthread_cond_signal(&retention->wake);
    pthread_mutex_unlock(&retention->mutex);
}

void retention_stop(struct retention *retention) {
    if (!retention)
        return;
    retention->ending = true;
    retention_wake(retention);
    pthread_join(retention->thread, NULL);
    pthread_cond_destroy(&retention->wake);
    pthread_mutex_destroy(&retention->mutex);
    free(retention->base_dir);
    free(retention);
}
