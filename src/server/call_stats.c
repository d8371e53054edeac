/* GET /v1/stats?window=: rates, depths and counters of every queue and DLQ. */
#include "server/call.h"

#include "server/request.h"
#include "server/view.h"

enum { WINDOW_MIN_MS = 60 * 1000, WINDOW_MAX_MS = 60 * 60 * 1000 };

struct totals {
    uint64_t depth, in_flight, pending_retry, in, ok, failed, retries;
    uint64_t results[RESULT_COUNT];
};

static void put_u64(struct json_out *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_put_i64(json, (int64_t)value);
}

static void put_results(struct json_out *json, const uint64_t results[RESULT_COUNT]) {
    json_key(json, "attempts");
    json_open(json, '{');
    for (int i = 0; i < RESULT_COUNT; i++)
        put_u64(json, attempt_result_text((enum attempt_result)i), results[i]);
    json_close(json, '}');
}

static void put_queue(struct json_out *json, const struct engine_queue_view *view) {
    json_open(json, '{');
    json_key(json, "queue");
    json_put_str(json, view->name);
    json_key(json, "state");
    json_put_str(json, queue_state_text(view->state));
    put_u64(json, "depth", view_depth(view));
    put_u64(json, "in_flight", view->in_flight);
    put_u64(json, "pending_retry", view->counts.pending_retry);
    put_u64(json, "lag", view->lag);
    json_key(json, "rates");
    view_queue_rates(json, view);
    put_results(json, view->results);
    put_u64(json, "retries", view->retries);
    put_u64(json, "fallbacks", view->fallbacks);
    put_u64(json, "jq_errors", view->jq_errors);
    json_close(json, '}');
}

static void add(struct totals *totals, const struct engine_queue_view *view) {
    totals->depth += view_depth(view);
    totals->in_flight += view->in_flight;
    totals->pending_retry += view->counts.pending_retry;
    totals->in += view->rate_in_per_minute;
    totals->ok += view->rate_ok_per_minute;
    totals->failed += view->rate_failed_per_minute;
    totals->retries += view->retries;
    for (int i = 0; i < RESULT_COUNT; i++)
        totals->results[i] += view->results[i];
}

static void put_queues(struct json_out *json, struct engine *engine, int64_t window_ms,
                       struct totals *totals) {
    json_key(json, "queues");
    json_open(json, '[');
    size_t count = engine_queue_count(engine);
    for (size_t i = 0; i < count; i++) {
        struct engine_queue_view view;
        engine_view_at(engine, i, &view);
        engine_rates_over(engine, i, window_ms, &view);
        put_queue(json, &view);
        add(totals, &view);
    }
    json_close(json, ']');
}

/* Returns how many letters lie in all of them. */
static uint64_t put_dlqs(struct json_out *json, struct request *request, struct wall now) {
    const struct server_options *options = &request->server->options;
    struct bytes *names;
    uint64_t depth = 0;
    size_t count = view_dlq_names(options, &request->arena, &names);
    json_key(json, "dlqs");
    json_open(json, '[');
    for (size_t i = 0; i < count; i++) {
        struct view_dlq dlq;
        if (!view_dlq_find(options, names[i], now, &request->arena, &dlq))
            continue;
        json_open(json, '{');
        json_key(json, "dlq");
        json_put(json, names[i]);
        put_u64(json, "depth", dlq.store.depth);
        put_u64(json, "arrivals_per_minute", dlq.store.arrivals_last_minute);
        put_u64(json, "total", dlq.store.total);
        put_u64(json, "spilled", dlq.store.spilled);
        json_close(json, '}');
        depth += dlq.store.depth;
    }
    json_close(json, ']');
    return depth;
}

static void put_totals(struct json_out *json, const struct totals *totals, uint64_t dead) {
    json_key(json, "totals");
    json_open(json, '{');
    put_u64(json, "depth", totals->depth);
    put_u64(json, "in_flight", totals->in_flight);
    put_u64(json, "pending_retry", totals->pending_retry);
    put_u64(json, "dlq_depth", dead);
    json_key(json, "rates");
    json_open(json, '{');
    put_u64(json, "in_per_minute", totals->in);
    put_u64(json, "ok_per_minute", totals->ok);
    put_u64(json, "failed_per_minute", totals->failed);
    json_close(json, '}');
    put_results(json, totals->results);
    put_u64(json, "retries", totals->retries);
    json_close(json, '}');
}

void call_stats(struct request *request) {
    struct bytes window = request_arg(request, "window");
    int64_t window_ms = WINDOW_MIN_MS;
    if (window.len > 0 && (!duration_parse(window, &window_ms) || window_ms < WINDOW_MIN_MS ||
                           window_ms > WINDOW_MAX_MS)) {
        request_problem(request, STATUS_INVALID, "window=%.*s is not a duration from 1m to 1h",
                        BYTES_ARG(window));
        return;
    }
    struct wall now = request_now(request);
    struct totals totals = {0};
    char at[INSTANT_TEXT_SIZE];
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "at");
    json_put_str(&json, wall_text(now, at));
    json_key(&json, "window");
    json_put(&json, window.len ? window : BYTES("1m"));
    put_queues(&json, request->server->options.engine, window_ms, &totals);
    put_totals(&json, &totals, put_dlqs(&json, request, now));
    json_close(&json, '}');
    request_answer(request, 200);
}
