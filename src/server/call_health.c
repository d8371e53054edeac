/* /healthz, /readyz, /openapi.json, /metrics, /v1/events and the front page. */
#include "server/call.h"

#include "server/metrics.h"
#include "server/openapi.h"
#include "server/request.h"

void call_health(struct request *request) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ok");
    json_key(&json, "version");
    json_put(&json, request->server->options.version);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void put_halted(struct json_out *json, struct engine *engine) {
    json_key(json, "halted");
    json_open(json, '[');
    size_t count = engine_queue_count(engine);
    for (size_t i = 0; i < count; i++) {
        struct engine_queue_view view;
        engine_view_at(engine, i, &view);
        if (view.state != QUEUE_HALTED)
            continue;
        json_open(json, '{');
        json_key(json, "queue");
        json_put_str(json, view.name);
        json_key(json, "why");
        json_put_str(json, view.why);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void call_ready(struct request *request) {
    struct store *store = request->server->options.store;
    struct store_health health;
    store->vtable->health(store, &health);
    if (!health.writable) {
        request_problem(request, STATUS_BUSY, "the store cannot commit: %s", health.trouble.text);
        return;
    }
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ready");
    put_halted(&json, request->server->options.engine);
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_openapi(struct request *request) {
    openapi_write(request->server->options.version, &request->out);
    request_answer(request, 200);
}

void call_metrics(struct request *request) {
    struct server *server = request->server;
    metrics_write(&server->options, server->reasons, request_now(request), &request->arena,
                  &request->out);
    request_answer_as(request, 200, "text/plain; version=0.0.4; charset=utf-8");
}

void call_events(struct request *request) {
    request->listener = events_join(request->server->events);
    if (request->listener)
        request_answer_as(request, 200, "text/event-stream");
    else
        request_problem(request, STATUS_BUSY, "%d listeners are there already; try again later",
                        EVENTS_LISTENERS_MAX);
}

void call_home(struct request *request) {
    static const char page[] =
        "<!doctype html>\n<html lang=\"en\"><head><meta "
        "charset=\"utf-8\"><title>impound</title></head>\n"
        "<body>\n<h1>impound</h1>\n"
        "<p>A retry and dead-letter engine. Nothing in the lot blocks the road, nothing in it is "
        "lost.</p>\n<ul>\n"
        "<li><a href=\"/v1/queues\">/v1/queues</a>: how the queues are</li>\n"
        "<li><a href=\"/v1/dlqs\">/v1/dlqs</a>: how the DLQs are</li>\n"
        "<li><a href=\"/v1/letters\">/v1/letters</a>: what is dead, newest first</li>\n"
        "<li><a href=\"/v1/stats\">/v1/stats</a>: rates and counters</li>\n"
        "<li><a href=\"/metrics\">/metrics</a>: the same for Prometheus</li>\n"
        "<li><a href=\"/openapi.json\">/openapi.json</a>: every call of the API</li>\n</ul>\n"
        "<p>On the command line: <code>impound queues</code>, <code>impound dlqs</code>, "
        "<code>impound ls</code>, <code>impound show ID</code>, <code>impound explain ID</code>."
        "</p>\n</body></html>\n";
    buf_str(&request->out, page);
    request_answer_as(request, 200, "text/html; charset=utf-8");
}
