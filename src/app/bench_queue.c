#include "app/bench_queue.h"

#include <impound/impound.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { BODY = 1024, THREADS = 2, PATIENCE_MS = 10 * 60 * 1000 };

static const char config[] = "queues: {bench: {handler: callback, concurrency: 64}}";

static int do_nothing(const struct impound_message *message, struct impound_outcome *outcome,
                      void *arg) {
    (void)message, (void)outcome, (void)arg;
    return IMPOUND_HANDLED;
}

static enum impound_status open_worker(const char *dir, struct impound_worker **out,
                                       struct impound_error *error) {
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    char store[PATH_MAX];
    snprintf(store, sizeof store, "sqlite:%s/queue.db", dir);
    options.config_text = config;
    options.store = store;
    enum impound_status status = impound_worker_open(&options, out, error);
    if (status == IMPOUND_OK)
        status = impound_worker_handle(*out, "bench", THREADS, do_nothing, NULL, error);
    if (status == IMPOUND_OK)
        status = impound_worker_start(*out, error);
    return status;
}

/* Messages are handled while others are pushed. */
static enum impound_status push_and_wait(struct impound_worker *worker,
                                         const struct bench_span *span, double *per_second,
                                         struct impound_error *error) {
    static const struct impound_push empty = IMPOUND_PUSH_INIT;
    struct impound_push batch[BENCH_QUEUE_GROUP];
    char body[BODY];
    memset(body, 'x', sizeof body);
    for (size_t i = 0; i < BENCH_QUEUE_GROUP; i++) {
        batch[i] = empty;
        batch[i].body = body;
        batch[i].body_len = sizeof body;
    }
    enum impound_status status = IMPOUND_OK;
    uint64_t done = 0;
    double begun = bench_span_now();
    for (; status == IMPOUND_OK && !bench_span_is_over(span, begun, done);
         done += BENCH_QUEUE_GROUP)
        status = impound_push_batch(worker, "bench", batch, BENCH_QUEUE_GROUP, NULL, error);
    if (status == IMPOUND_OK)
        status = impound_worker_wait_idle(worker, PATIENCE_MS, error);
    *per_second = (double)done / (bench_span_now() - begun);
    return status;
}

enum status bench_queue_run(const char *dir, const struct bench_span *span, double *per_second,
                            struct err *err) {
    struct impound_worker *worker = NULL;
    struct impound_error error = {0};
    enum impound_status status = open_worker(dir, &worker, &error);
    if (status == IMPOUND_OK)
        status = push_and_wait(worker, span, per_second, &error);
    impound_worker_free(worker);
    return status == IMPOUND_OK ? STATUS_OK : err_set(err, STATUS_IO, "%s", error.text);
}
