/* Queries and control of a worker: counts, letters, pause and resume of a queue. */
#include <assert.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "lib/library_worker.h"
#include "triage/query/query.h"

enum { JSON_MAX = 64 << 20, QUERY_ARENA = 4096, IDLE_POLL_MS = 2 };

static_assert((int)IMPOUND_QUEUE_HALTED == (int)QUEUE_HALTED, "queue states");

/* ---- counts ---- */

static uint64_t depth_of(const struct store_queue_counts *counts) {
    return counts->queued + counts->pending_retry + counts->taken;
}

enum impound_status impound_worker_stats(struct impound_worker *worker, const char *queue,
                                         struct impound_stats *out, struct impound_error *error) {
    struct engine_queue_view view;
    if (!library_line(worker, queue))
        return library_no_queue(queue, error);
    if (!library_started(worker, error))
        return IMPOUND_INVALID;
    if (out->size < sizeof out->size || !engine_view(worker->engine, bytes_of(queue), &view))
        return library_fail(error, STATUS_INVALID, "stats: its size is not set");
    struct impound_stats stats = {
        .state = (enum impound_queue_state)view.state,
        .breaker = (enum impound_breaker_state)view.breaker,
        .depth = depth_of(&view.counts),
        .in_flight = view.in_flight,
        .queued = view.counts.queued,
        .pending_retry = view.counts.pending_retry,
        .ok = view.results[RESULT_OK],
        .retried = view.results[RESULT_RETRY] + view.results[RESULT_PROBE_FAILED],
        .dead = view.results[RESULT_DLQ],
        .discarded = view.results[RESULT_DISCARD],
        .halted = view.results[RESULT_HALT],
        .interrupted = view.results[RESULT_INTERRUPTED],
        .budget_remaining = view.budget_remaining_ratio,
    };
    library_text(stats.why, sizeof stats.why, bytes_of(view.why));
    library_give(out, out->size, &stats, sizeof stats);
    return IMPOUND_OK;
}

static bool is_idle(struct impound_worker *worker) {
    for (size_t i = 0; i < worker->config->queue_count; i++) {
        struct store_queue_counts counts = {0};
        uint32_t number =
            worker->store->vtable->queue_number(worker->store, worker->config->queues[i].name);
        worker->store->vtable->counts(worker->store, number, &counts);
        if (depth_of(&counts) > 0)
            return false;
    }
    return true;
}

enum impound_status impound_worker_wait_idle(struct impound_worker *worker, int64_t timeout_ms,
                                             struct impound_error *error) {
    static const struct timespec poll = {.tv_nsec = IDLE_POLL_MS * 1000000L};
    struct mono now = clock_now(&clock_system).mono;
    struct mono until = timeout_ms < 0 ? MONO_NEVER : mono_after(now, timeout_ms);
    while (!is_idle(worker)) {
        if (clock_now(&clock_system).mono.ms >= until.ms)
            return library_fail(error, STATUS_BUSY, "messages are still held after %lld ms",
                                (long long)timeout_ms);
        nanosleep(&poll, NULL);
    }
    return IMPOUND_OK;
}

/* ---- letters ---- */

/* Returns the text to the caller, unless there was an error. */
static enum impound_status give_text(enum status status, struct buf *text, const struct err *err,
                                     char **json, struct impound_error *error) {
    size_t len;
    if (status == STATUS_OK)
        *json = buf_take(text, &len);
    buf_free(text);
    return status == STATUS_OK ? IMPOUND_OK : library_error(error, err);
}

/* A message that has not failed yet has no limit of attempts in its envelope. */
static void complete(const struct impound_worker *worker, struct envelope *envelope) {
    const struct config_queue *queue = config_find_queue(worker->config, envelope->queue);
    envelope->max_attempts = policy_attempts(queue ? &queue->policy : NULL, envelope->max_attempts);
}

enum impound_status impound_worker_get(struct impound_worker *worker, const char *queue,
                                       const char *id, char **json, struct impound_error *error) {
    struct message *held = NULL;
    struct err err;
    struct buf text;
    enum status status =
        letters_get(worker->store->letters, bytes_of(queue), bytes_of(id), &held, &err);
    buf_init_heap(&text, JSON_MAX);
    if (status == STATUS_OK) {
        complete(worker, &held->envelope);
        envelope_encode(&held->envelope, ENVELOPE_WITH_BODY, held->body, &text);
    } else if (status == STATUS_NOT_FOUND) {
        err_set(&err, status, "no message \"%.200s\" is held; what succeeded is not kept", id);
    }
    message_free(held);
    return give_text(status, &text, &err, json, error);
}

/* "name=value&name=value" */
static enum status set_words(struct query *query, struct bytes filter, struct arena *arena,
                             struct err *err) {
    struct wall now = clock_now(&clock_system).wall;
    while (filter.len > 0) {
        size_t end = bytes_find(filter, BYTES("&"));
        struct bytes word = bytes_cut(filter, 0, end);
        size_t equals = bytes_find(word, BYTES("="));
        enum status status = query_set(query, bytes_cut(word, 0, equals),
                                       bytes_cut(word, equals + 1, word.len), now, arena, err);
        if (status != STATUS_OK)
            return status;
        filter = bytes_cut(filter, end + 1, filter.len);
    }
    query_finish(query);
    return STATUS_OK;
}

enum impound_status impound_worker_letters(struct impound_worker *worker, const char *filter,
                                           char **json, struct impound_error *error) {
    struct query query;
    struct arena arena;
    struct buf text;
    struct err err;
    arena_init_heap(&arena, QUERY_ARENA);
    buf_init_heap(&text, JSON_MAX);
    query_init(&query, QUERY_LETTERS);
    enum status status = set_words(&query, bytes_of(filter), &arena, &err);
    if (status == STATUS_OK && query.where.len && !worker->jq)
        status = err_set(&err, STATUS_INVALID, "where: jq needs the option `program`");
    if (status == STATUS_OK)
        status = query_run(worker->store, worker->jq, &query, &text, &err);
    arena_free(&arena);
    return give_text(status, &text, &err, json, error);
}

/* ---- pause and resume ---- */

struct library_asking {
    struct engine_request request;
    sem_t answered;
    enum status status;
};

static void on_answer(struct engine_request *request, enum status status) {
    struct library_asking *asking = request->arg;
    asking->status = status;
    sem_post(&asking->answered);
}

/* The stage is read under the mutex that stop takes first: a request that is posted while the
 * worker runs is answered before its engine ends. */
static bool post(struct impound_worker *worker, struct library_asking *asking) {
    pthread_mutex_lock(&worker->mutex);
    bool runs = worker->stage == LIBRARY_RUNNING;
    if (runs)
        engine_ask(worker->engine, &asking->request);
    pthread_mutex_unlock(&worker->mutex);
    return runs;
}

static enum impound_status ask(struct impound_worker *worker, enum engine_request_kind kind,
                               const char *queue, const char *why, struct impound_error *error) {
    struct library_asking asking = {.status = STATUS_OK};
    if (!library_line(worker, queue))
        return library_no_queue(queue, error);
    asking.request = (struct engine_request){.kind = kind,
                                             .queue = bytes_of(queue),
                                             .done = on_answer,
                                             .arg = &asking,
                                             .why = bytes_of(why)};
    sem_init(&asking.answered, 0, 0);
    bool posted = post(worker, &asking);
    while (posted && sem_wait(&asking.answered) != 0) {
    }
    sem_destroy(&asking.answered);
    if (!posted)
        return library_fail(error, STATUS_BUSY, "the worker does not run");
    if (asking.status == STATUS_OK)
        return IMPOUND_OK;
    asking.request.err.status = asking.status;
    return library_error(error, &asking.request.err);
}

enum impound_status impound_worker_pause(struct impound_worker *worker, const char *queue,
                                         const char *why, struct impound_error *error) {
    return ask(worker, ENGINE_PAUSE, queue, why, error);
}

enum impound_status impound_worker_resume(struct impound_worker *worker, const char *queue,
                                          struct impound_error *error) {
    return ask(worker, ENGINE_RESUME, queue, NULL, error);
}
