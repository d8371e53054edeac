/* A whole worker in one process: 100 messages into a durable queue, handled by a callback of which
 * some calls fail, retried or dead-lettered by the queue's policy.
 *
 *   cc worker.c $(pkg-config --cflags --libs impound) -o worker && ./worker FOLDER
 *
 * Run it again on the same FOLDER after killing it at any moment: nothing is lost. */
#include <impound/impound.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 100, THREADS = 4, PATIENCE_MS = 60000 };

static const char config[] =
    "store: sqlite:worker.db\n"
    "queues:\n"
    "  orders:\n"
    "    handler: callback\n"
    "    concurrency: 8\n"
    "    retry: {attempts: 3, base: 10ms, cap: 50ms, budget_floor: 1000/s}\n"
    "    breaker: off\n";

/* Every tenth order is wrong for ever, every fifth one meets a busy server at its first attempt. */
static int handle(const struct impound_message *message, struct impound_outcome *outcome,
                  void *arg) {
    size_t len;
    const char *body = (const char *)impound_message_body(message, &len);
    int order = len < 8 ? (int)strtol(body, NULL, 10) : -1;
    (void)arg;
    if (order % 10 == 0) {
        impound_outcome_fail(outcome, "ValidationError", "the price is missing");
        impound_outcome_set_status(outcome, 422);
    } else if (order % 5 == 0 && impound_message_attempt(message) == 1) {
        impound_outcome_fail(outcome, "Busy", "try later");
        impound_outcome_set_status(outcome, 503);
    }
    return IMPOUND_HANDLED;
}

/* One durable commit for all of them. */
static enum impound_status push_orders(struct impound_worker *worker, struct impound_error *error) {
    static const struct impound_push empty = IMPOUND_PUSH_INIT;
    static char bodies[MESSAGES][8];
    struct impound_push messages[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        snprintf(bodies[i], sizeof bodies[i], "%d ", i);
        messages[i] = empty;
        messages[i].body = bodies[i];
        messages[i].body_len = strlen(bodies[i]);
        messages[i].content_type = "text/plain";
    }
    return impound_push_batch(worker, "orders", messages, MESSAGES, NULL, error);
}

static enum impound_status print_summary(struct impound_worker *worker,
                                         struct impound_error *error) {
    struct impound_stats stats = IMPOUND_STATS_INIT;
    char *letters = NULL;
    enum impound_status status = impound_worker_stats(worker, "orders", &stats, error);
    if (status == IMPOUND_OK)
        status = impound_worker_letters(worker, "dlq=orders.dlq&limit=1", &letters, error);
    if (status != IMPOUND_OK)
        return status;
    printf("%llu succeeded, %llu retried, %llu dead\n", (unsigned long long)stats.ok,
           (unsigned long long)stats.retried, (unsigned long long)stats.dead);
    printf("the newest letter: %s\n", letters);
    impound_text_free(letters);
    return IMPOUND_OK;
}

static enum impound_status run(struct impound_worker *worker, struct impound_error *error) {
    enum impound_status status =
        impound_worker_handle(worker, "orders", THREADS, handle, NULL, error);
    if (status == IMPOUND_OK)
        status = push_orders(worker, error);
    if (status == IMPOUND_OK)
        status = impound_worker_start(worker, error);
    if (status == IMPOUND_OK)
        status = impound_worker_wait_idle(worker, PATIENCE_MS, error);
    if (status == IMPOUND_OK)
        status = print_summary(worker, error);
    return status;
}

int main(int argc, char **argv) {
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    struct impound_worker *worker = NULL;
    struct impound_error error;
    char store[4096];
    snprintf(store, sizeof store, "sqlite:%s/worker.db", argc > 1 ? argv[1] : ".");
    options.config_text = config;
    options.store = store;
    enum impound_status status = impound_worker_open(&options, &worker, &error);
    if (status == IMPOUND_OK)
        status = run(worker, &error);
    impound_worker_free(worker);
    if (status != IMPOUND_OK)
        fprintf(stderr, "%s\n", error.text);
    return status != IMPOUND_OK;
}
