#include "fake_engine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "triage/query/explain.h"
#include "triage/query/query.h"

const double engine_seconds_bounds[ENGINE_SECONDS_BUCKETS] = {1, 2, 3,  4,  5,  6,  7,
                                                              8, 9, 10, 11, 12, 13, 14};

const char *queue_state_text(enum queue_state state) {
    static const char *const words[] = {"running", "paused", "halted"};
    return words[state];
}

const char *attempt_result_text(enum attempt_result result) {
    static const char *const words[RESULT_COUNT] = {
        "ok", "retry", "dlq", "discard", "halt", "interrupted", "probe_failed", "duplicate"};
    return words[result];
}

static struct engine_queue_view *find(struct engine *engine, struct bytes name) {
    for (size_t i = 0; i < engine->count; i++) {
        if (bytes_is(name, engine->queues[i].name))
            return &engine->queues[i];
    }
    return NULL;
}

bool engine_view(struct engine *engine, struct bytes queue, struct engine_queue_view *out) {
    struct engine_queue_view *found = find(engine, queue);
    if (found)
        *out = *found;
    return found != NULL;
}

size_t engine_queue_count(struct engine *engine) {
    return engine->count;
}

bool engine_view_at(struct engine *engine, size_t place, struct engine_queue_view *out) {
    if (place < engine->count)
        *out = engine->queues[place];
    return place < engine->count;
}

static void judge(struct engine_request *request) {
    struct envelope *envelope = &request->held_take->envelope;
    bool retry = request->outcome.has_verdict && request->outcome.verdict == VERDICT_RETRY;
    request->verdict = retry ? VERDICT_RETRY : VERDICT_DLQ;
    envelope->reason = BYTES("unclassified");
    envelope->state = retry ? STATE_PENDING_RETRY : STATE_PENDING_REVIEW;
    if (retry)
        envelope->next_attempt_at = (struct wall){1700000001000};
    else
        envelope->letter_id = BYTES("letter-1");
}

/* One message for whoever fetches, whatever it asked for. */
static void lease_out(struct engine_request *request) {
    static struct rule_header header = {{"a", 1}, {"b", 1}};
    static struct message held = {.envelope = {.id = {"m-1", 3},
                                               .headers = &header,
                                               .header_count = 1,
                                               .content_type = {"application/json", 16},
                                               .replays = 1},
                                  .body = {"{\"n\":1.0}", 9}};
    request->lease->messages[0] = (struct engine_leased){"00ff", &held, 2, &header, 1};
    request->lease->count = 1;
}

/* What is called "good" is. */
static void release(struct engine_request *request) {
    for (size_t i = 0; i < request->release_count; i++) {
        struct engine_release *one = &request->release[i];
        if (!bytes_is(one->lease, "good"))
            one->status = err_set(&one->err, STATUS_CONFLICT, "leased again");
    }
    request->done(request, STATUS_OK);
}

void engine_ask(struct engine *engine, struct engine_request *request) {
    if (request->kind == ENGINE_RELEASE) {
        release(request);
        return;
    }
    struct engine_queue_view *queue = find(engine, request->queue);
    enum status status = queue ? engine->refuse : STATUS_NOT_FOUND;
    if (status != STATUS_OK) {
        message_free(request->held_take);
        request->held_take = NULL;
        err_set(&request->err, status, "the fake was told to refuse");
    } else if (request->kind == ENGINE_REPORT) {
        judge(request);
    } else if (request->kind == ENGINE_LEASE) {
        lease_out(request);
    } else {
        queue->state = request->kind == ENGINE_PAUSE ? QUEUE_PAUSED : QUEUE_RUNNING;
        snprintf(queue->why, sizeof queue->why, "%.*s", BYTES_ARG(request->why));
    }
    request->done(request, status);
}

/* ---- triage ---- */

void explain_json(const struct envelope *envelope, const struct policy *policy,
                  const struct explain_queue *queue, struct buf *out) {
    buf_printf(out, "{\"id\":\"%.*s\",\"known\":%s,\"stopped\":\"%s\"}", BYTES_ARG(envelope->id),
               policy ? "true" : "false", queue && queue->stopped ? queue->stopped : "");
}

void query_init(struct query *query, enum query_scope scope) {
    *query = (struct query){.filter = {.letters = scope == QUERY_LETTERS}};
}

enum status query_set(struct query *query, struct bytes name, struct bytes value, struct wall now,
                      struct arena *arena, struct err *err) {
    (void)now;
    (void)arena;
    if (bytes_is(name, "dlq"))
        query->filter.dlq = value;
    else if (bytes_is(name, "reason"))
        query->filter.reason_prefix = value;
    else
        return err_set(err, STATUS_INVALID, "unknown filter \"%.*s\"", BYTES_ARG(name));
    return STATUS_OK;
}

void query_finish(struct query *query) {
    (void)query;
}

enum status query_run(struct store *store, struct jq *jq, const struct query *query,
                      struct buf *out, struct err *err) {
    (void)store;
    (void)jq;
    (void)err;
    while (bytes_is(query->filter.reason_prefix, "patience") && !query->gone(query->asker))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    buf_printf(out, "{\"%s\":[],\"dlq\":\"%.*s\",\"reason\":\"%.*s\",\"cursor\":null}",
               query->filter.letters ? "letters" : "messages", BYTES_ARG(query->filter.dlq),
               BYTES_ARG(query->filter.reason_prefix));
    return STATUS_OK;
}

struct engine_rates engine_rates_at(struct engine *engine, size_t place, int64_t window_ms) {
    (void)engine;
    (void)place;
    return (struct engine_rates){.in = (uint64_t)window_ms / 60000};
}
