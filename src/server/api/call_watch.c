/* Calls for monitoring and tools: /healthz, /metrics, /v1/events, /openapi.json; call_ready.c has
 * /readyz. */
#include "server/api/call.h"

#include "server/api/openapi.h"
#include "server/api/store_probe.h"
#include "server/http/request.h"
#include "server/metrics/exposition.h"
#include "server/metrics/metrics.h"

void call_health(struct request *request) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ok");
    json_key(&json, "version");
    json_put(&json, request->server->options.version);
    json_key(&json, "payloads");
    json_put_str(&json, request->server->options.payloads_hidden ? "hidden" : "shown");
    json_close(&json, '}');
    request_answer(request, 200);
}

static void put_lanes(struct workers *workers, struct buf *out) {
    size_t waiting[WORKERS_LANES], running[WORKERS_LANES];
    for (size_t i = 0; i < WORKERS_LANES; i++)
        workers_counts(workers, (enum workers_lane)i, &waiting[i], &running[i]);
    exposition_head(out, "impound_http_waiting", "gauge",
                    "Requests that wait for a thread of their lane.");
    for (size_t i = 0; i < WORKERS_LANES; i++)
        exposition_sample(out, "impound_http_waiting", "lane",
                          bytes_of(workers_lane_text((enum workers_lane)i)), (double)waiting[i]);
    exposition_head(out, "impound_http_running", "gauge",
                    "Requests that a thread of their lane works on.");
    for (size_t i = 0; i < WORKERS_LANES; i++)
        exposition_sample(out, "impound_http_running", "lane",
                          bytes_of(workers_lane_text((enum workers_lane)i)), (double)running[i]);
}

/* Starts a probe: impound_store_writable must not stay 0 only because there was no later commit. */
void call_metrics(struct request *request) {
    struct server *server = request->server;
    store_probe_begin(server);
    metrics_write(&server->options, server->reasons, request_now(request), &request->arena,
                  &request->out);
    put_lanes(server->workers, &request->out);
    request_answer_as(request, 200, "text/plain; version=0.0.4; charset=utf-8");
}

void call_openapi(struct request *request) {
    buf_put(&request->out, (const char *)openapi_json, openapi_json_size);
    request_answer(request, 200);
}

void call_events(struct request *request) {
    request->listener = events_join(request->server->events);
    if (request->listener)
        request_answer_as(request, 200, "text/event-stream");
    else
        request_problem(request, STATUS_BUSY, "%d listeners are there already; try again later",
                        EVENTS_LISTENERS_MAX);
}
