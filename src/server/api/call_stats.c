/* GET /v1/stats?window=: rates, depths and counters of every queue and DLQ. */
#include "server/api/call.h"

#include "server/api/json/view_json.h"
#include "server/http/request.h"
#include "triage/groups/arrivals.h"

enum { WINDOW_MIN_MS = 60 * 1000, WINDOW_MAX_MS = 60 * 60 * 1000, WINDOW_DEFAULT_MS = 60 * 1000 };

struct stats_totals {
    uint64_t depth, in_flight, pending_retry, retries;
    uint64_t dead, arrivals; /* letters in DLQs now, and all that ever arrived there */
    struct triage_rules_totals triage;
    struct engine_rates rates;
    uint64_t results[RESULT_COUNT];
};

static void put_results(struct json_out *json, const uint64_t results[RESULT_COUNT]) {
    json_key(json, "attempts");
    json_open(json, '{');
    for (int i = 0; i < RESULT_COUNT; i++)
        view_json_number(json, attempt_result_text((enum attempt_result)i), results[i]);
    json_close(json, '}');
}

static void put_queue(struct json_out *json, const struct engine_queue_view *view) {
    json_open(json, '{');
    json_key(json, "queue");
    json_put_str(json, view->name);
    json_key(json, "state");
    json_put_str(json, queue_state_text(view->state));
    view_json_number(json, "depth", view_json_depth(view));
    view_json_number(json, "in_flight", view->in_flight);
    view_json_number(json, "pending_retry", view->counts.pending_retry);
    view_json_number(json, "lag", view->lag);
    json_key(json, "rates");
    view_json_rates(json, &view->rates);
    put_results(json, view->results);
    view_json_number(json, "retries", view->retries);
    view_json_number(json, "fallbacks", view->fallbacks);
    view_json_number(json, "jq_errors", view->jq_errors);
    json_close(json, '}');
}

static void add(struct stats_totals *totals, const struct engine_queue_view *view) {
    totals->depth += view_json_depth(view);
    totals->in_flight += view->in_flight;
    totals->pending_retry += view->counts.pending_retry;
    totals->rates.in += view->rates.in;
    totals->rates.ok += view->rates.ok;
    totals->rates.failed += view->rates.failed;
    totals->retries += view->retries;
    for (int i = 0; i < RESULT_COUNT; i++)
        totals->results[i] += view->results[i];
}

static void put_queues(struct json_out *json, struct engine *engine, int64_t window_ms,
                       struct stats_totals *totals) {
    json_key(json, "queues");
    json_open(json, '[');
    struct engine_queue_view view;
    for (size_t i = 0; engine_view_at(engine, i, &view); i++) {
        view.rates = engine_rates_at(engine, i, window_ms);
        put_queue(json, &view);
        add(totals, &view);
    }
    json_close(json, ']');
}

static void put_dlqs(struct json_out *json, struct request *request, struct wall now,
                     struct stats_totals *totals) {
    const struct server_options *options = &request->server->options;
    struct bytes *names;
    size_t count = view_json_dlq_names(options, &request->arena, &names);
    json_key(json, "dlqs");
    json_open(json, '[');
    for (size_t i = 0; i < count; i++) {
        struct view_json_dlq dlq;
        if (!view_json_dlq_find(options, names[i], now, &request->arena, &dlq))
            continue;
        totals->dead += dlq.store.depth;
        totals->arrivals += dlq.store.total;
        if (view_json_dlq_is_over(&dlq))
            continue;
        json_open(json, '{');
        json_key(json, "dlq");
        json_put(json, names[i]);
        view_json_number(json, "depth", dlq.store.depth);
        view_json_number(json, "arrivals_per_minute", dlq.store.arrivals_last_minute);
        view_json_number(json, "total", dlq.store.total);
        view_json_number(json, "spilled", dlq.store.spilled);
        view_json_triage_shares(json, &dlq.triage, dlq.store.total);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_triage(struct json_out *json, const struct stats_totals *totals) {
    const struct triage_rules_totals *triage = &totals->triage;
    json_key(json, "triage");
    json_open(json, '{');
    for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
        view_json_number(json, triage_rule_actions[i], triage->letters[i]);
    view_json_number(json, "fixed", triage->fixed);
    view_json_number(json, "failed", triage->failed);
    view_json_number(json, "escalated", triage->escalated);
    view_json_number(json, "stopped", triage->stopped);
    json_close(json, '}');
    view_json_triage_shares(json, triage, totals->arrivals);
}

static void put_totals(struct json_out *json, const struct stats_totals *totals) {
    json_key(json, "totals");
    json_open(json, '{');
    view_json_number(json, "depth", totals->depth);
    view_json_number(json, "in_flight", totals->in_flight);
    view_json_number(json, "pending_retry", totals->pending_retry);
    view_json_number(json, "dlq_depth", totals->dead);
    put_triage(json, totals);
    json_key(json, "rates");
    view_json_rates(json, &totals->rates);
    put_results(json, totals->results);
    view_json_number(json, "retries", totals->retries);
    json_close(json, '}');
}

void call_stats(struct request *request) {
    struct bytes window = request_arg(request, "window");
    int64_t window_ms = WINDOW_DEFAULT_MS;
    if (window.len > 0 && (!duration_parse(window, &window_ms) || window_ms < WINDOW_MIN_MS ||
                           window_ms > WINDOW_MAX_MS)) {
        request_problem(request, STATUS_INVALID, "window=%.*s is not a duration from 1m to 1h",
                        BYTES_ARG(window));
        return;
    }
    struct wall now = request_now(request);
    struct stats_totals totals = {0};
    triage_rules_totals(request->server->options.rules, BYTES_NONE, &totals.triage);
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    view_json_time(&json, "at", now);
    json_key(&json, "window");
    json_put(&json, window.len > 0 ? window : BYTES("1m"));
    put_queues(&json, request->server->options.engine, window_ms, &totals);
    put_dlqs(&json, request, now, &totals);
    json_key(&json, "adoptions");
    adopt_put(request->server->options.adopt, BYTES_NONE, &json);
    put_totals(&json, &totals);
    json_close(&json, '}');
    request_answer(request, 200);
}

/* ---- GET /v1/arrivals?window=: the number of letters by arrival time and category ---- */

void call_arrivals(struct request *request) {
    struct bytes window = request_arg(request, "window");
    struct err err;
    enum status status = arrivals_json(request->server->options.triage->arrivals,
                                       window.len > 0 ? window : BYTES("1h"), &request->out, &err);
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err.text);
}
