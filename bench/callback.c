/* Messages through a callback that does nothing: what the library itself costs.
 *
 *   callback FOLDER MESSAGES   prints {"per_s":…,"cpu_us":…} */
#include <impound/impound.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { AT_ONCE = 10000, BODY = 1000, THREADS = 2, PATIENCE_MS = 600000 };

static const char config[] = "queues: {orders: {handler: callback, concurrency: 32}}";

static int handle(const struct impound_message *message, struct impound_outcome *outcome,
                  void *arg) {
    (void)message, (void)outcome, (void)arg;
    return IMPOUND_HANDLED;
}

static double seconds(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static enum impound_status push_all(struct impound_worker *worker, size_t count,
                                    struct impound_error *error) {
    static const struct impound_push empty = IMPOUND_PUSH_INIT;
    static struct impound_push batch[AT_ONCE];
    static char body[BODY];
    enum impound_status status = IMPOUND_OK;
    memset(body, 'x', sizeof body);
    for (size_t i = 0; i < AT_ONCE; i++) {
        batch[i] = empty;
        batch[i].body = body;
        batch[i].body_len = sizeof body;
    }
    for (size_t left = count; left > 0 && status == IMPOUND_OK;) {
        size_t now = left < AT_ONCE ? left : AT_ONCE;
        status = impound_push_batch(worker, "orders", batch, now, NULL, error);
        left -= now;
    }
    return status;
}

static enum impound_status measure(struct impound_worker *worker, size_t count,
                                   struct impound_error *error) {
    double began = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    enum impound_status status = impound_worker_start(worker, error);
    if (status == IMPOUND_OK)
        status = impound_worker_wait_idle(worker, PATIENCE_MS, error);
    if (status == IMPOUND_OK)
        printf("{\"per_s\":%.0f,\"cpu_us\":%.2f}\n",
               (double)count / (seconds(CLOCK_MONOTONIC) - began),
               (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e6 / (double)count);
    return status;
}

int main(int argc, char **argv) {
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    struct impound_worker *worker = NULL;
    struct impound_error error;
    char store[4096];
    if (argc != 3)
        return 2;
    size_t count = strtoul(argv[2], NULL, 10);
    snprintf(store, sizeof store, "sqlite:%s/callback.db", argv[1]);
    options.config_text = config;
    options.store = store;
    enum impound_status status = impound_worker_open(&options, &worker, &error);
    if (status == IMPOUND_OK)
        status = impound_worker_handle(worker, "orders", THREADS, handle, NULL, &error);
    if (status == IMPOUND_OK)
        status = push_all(worker, count, &error);
    if (status == IMPOUND_OK)
        status = measure(worker, count, &error);
    if (status != IMPOUND_OK)
        fprintf(stderr, "%s\n", error.text);
    impound_worker_free(worker);
    return status != IMPOUND_OK;
}
