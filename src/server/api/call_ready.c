/* GET /readyz: whether the store can commit, and which queues are halted or have a full DLQ. */
#include "server/api/call.h"

#include "server/api/json/view_json.h"
#include "server/api/store_probe.h"
#include "server/http/request.h"

enum { WHY_MAX = 1024 };

static bool is_halted(const struct engine_queue_view *view) {
    return view->state == QUEUE_HALTED;
}

static bool is_stuck(const struct engine_queue_view *view) {
    return view->stuck;
}

static bool is_full(const struct engine_queue_view *view) {
    return view->dlq_full;
}

static void put_queues(struct json_out *json, struct engine *engine, const char *key,
                       bool (*chosen)(const struct engine_queue_view *view)) {
    struct engine_queue_view view;
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; engine_view_at(engine, i, &view); i++) {
        if (!chosen(&view))
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

static void put_full(struct json_out *json, struct engine *engine) {
    struct engine_queue_view view;
    char memory[WHY_MAX];
    struct buf why;
    json_key(json, "dlq_full");
    json_open(json, '[');
    for (size_t i = 0; engine_view_at(engine, i, &view); i++) {
        if (!is_full(&view))
            continue;
        json_open(json, '{');
        json_key(json, "queue");
        json_put_str(json, view.name);
        buf_init_fixed(&why, memory, sizeof memory);
        view_json_put_full(&view, &why);
        json_key(json, "why");
        json_put(json, buf_view(&why));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static bool any(struct engine *engine, bool (*chosen)(const struct engine_queue_view *view)) {
    struct engine_queue_view view;
    bool found = false;
    for (size_t i = 0; !found && engine_view_at(engine, i, &view); i++)
        found = chosen(&view);
    return found;
}

void call_ready(struct request *request) {
    const struct server_options *options = &request->server->options;
    struct store_health health;
    store_probe_begin(request->server);
    options->store->vtable->health(options->store, &health);
    if (!health.writable) {
        request_problem(request, STATUS_BUSY, "the store cannot commit: %s", health.trouble.text);
        return;
    }
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ready");
    put_queues(&json, options->engine, "halted", is_halted);
    if (any(options->engine, is_full))
        put_full(&json, options->engine);
    if (any(options->engine, is_stuck))
        put_queues(&json, options->engine, "stuck", is_stuck);
    json_close(&json, '}');
    request_answer(request, 200);
}
