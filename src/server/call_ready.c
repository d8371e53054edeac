/* GET /readyz: whether the store can commit, and which queues are halted or have a full DLQ. */
#include "server/call.h"

#include "server/request.h"
#include "server/trial.h"
#include "server/view.h"

enum { WHY_MAX = 1024 };

static void put_halted(struct json_out *json, struct engine *engine) {
    struct engine_queue_view view;
    json_key(json, "halted");
    json_open(json, '[');
    for (size_t i = 0; engine_view_at(engine, i, &view); i++) {
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

static void put_full(struct json_out *json, struct engine *engine) {
    struct engine_queue_view view;
    char memory[WHY_MAX];
    struct buf why;
    json_key(json, "dlq_full");
    json_open(json, '[');
    for (size_t i = 0; engine_view_at(engine, i, &view); i++) {
        if (!view.dlq_full)
            continue;
        json_open(json, '{');
        json_key(json, "queue");
        json_put_str(json, view.name);
        buf_init_fixed(&why, memory, sizeof memory);
        view_put_full(&view, &why);
        json_key(json, "why");
        json_put(json, buf_view(&why));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void call_ready(struct request *request) {
    const struct server_options *options = &request->server->options;
    struct store_health health;
    trial_begin(request->server);
    options->store->vtable->health(options->store, &health);
    if (!health.writable) {
        request_problem(request, STATUS_BUSY, "the store cannot commit: %s", health.trouble.text);
        return;
    }
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ready");
    put_halted(&json, options->engine);
    put_full(&json, options->engine);
    json_close(&json, '}');
    request_answer(request, 200);
}
