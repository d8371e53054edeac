/* /v1/queues: the state of the queues, pause and resume. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "server/api/json/member.h"
#include "server/api/json/view_json.h"
#include "server/http/request.h"
#include "triage/query/audit.h"

enum { WHY_MAX = 255 };

void call_queues_list(struct request *request) {
    struct engine *engine = request->server->options.engine;
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "queues");
    json_open(&json, '[');
    struct engine_queue_view view;
    for (size_t i = 0; engine_view_at(engine, i, &view); i++)
        view_json_queue(&json, &view);
    json_close(&json, ']');
    json_key(&json, "adoptions"); /* messages that arrive by adoption */
    adopt_put(request->server->options.adopt, BYTES_NONE, &json);
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_queues_show(struct request *request) {
    struct engine_queue_view view;
    if (!engine_view(request->server->options.engine, request->params[0], &view)) {
        name_check_no_queue(request, request->params[0]);
        return;
    }
    struct json_out json = json_out(&request->out);
    view_json_queue(&json, &view);
    request_answer(request, 200);
}

/* Runs on the engine's thread, once the change is durable. A view would deadlock there, so a worker
 * answers. */
static void changed(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    if (status == STATUS_OK) {
        request->work = call_queues_show;
        workers_pass(request->server->workers, request);
    } else if (status == STATUS_NOT_FOUND) {
        name_check_no_queue(request, asked->queue);
    } else {
        request_problem(request, status, "the queue was not changed: %s", asked->err.text);
    }
}

static struct bytes state_json(enum queue_state state, struct bytes why, struct arena *arena) {
    enum { SIZE = 8 * WHY_MAX };
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, SIZE), SIZE);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "state");
    json_put_str(&json, queue_state_text(state));
    json_key(&json, "why");
    json_put(&json, why.len > 0 ? why : BYTES_NONE);
    json_close(&json, '}');
    return buf_view(&text);
}

/* The audit entry, for the same commit as the change. */
static const struct store_keep *audited(struct request *request, const struct engine_request *asked,
                                        const struct engine_queue_view *before) {
    bool pause = asked->kind == ENGINE_PAUSE;
    struct arena *arena = &request->arena;
    struct audit_entry entry = {.who = request->actor,
                                .what = pause ? "queue.pause" : "queue.resume",
                                .why = asked->why,
                                .subject = asked->queue,
                                .before = state_json(before->state, bytes_of(before->why), arena),
                                .after = pause ? state_json(QUEUE_PAUSED, asked->why, arena)
                                               : state_json(QUEUE_RUNNING, BYTES_NONE, arena)};
    audit_begin(request->server->options.triage, &entry);
    struct store_op *op = arena_alloc(arena, sizeof *op);
    *op = audit_op(&entry, arena);
    return &op->keep;
}

static void ask(struct request *request, enum engine_request_kind kind, struct bytes why) {
    struct engine_queue_view before;
    struct engine_request *asked = arena_alloc(&request->arena, sizeof *asked);
    if (!engine_view(request->server->options.engine, request->params[0], &before)) {
        name_check_no_queue(request, request->params[0]);
        return;
    }
    asked->kind = kind;
    asked->queue = request->params[0];
    asked->why = why;
    asked->keep = audited(request, asked, &before);
    asked->done = changed;
    asked->arg = request;
    engine_ask(request->server->options.engine, asked);
}

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    struct bytes *why = into;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 0, WHY_MAX, arena, why, err);
}

static void change(struct request *request, enum engine_request_kind kind) {
    static const struct member members[] = {{"why", set_why}};
    struct json object;
    struct bytes why = BYTES_NONE;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    if (member_read(members, 1, object, &why, &request->arena, &err) != STATUS_OK)
        request_problem(request, STATUS_INVALID, "%s", err.text);
    else
        ask(request, kind, why);
}

void call_queues_pause(struct request *request) {
    change(request, ENGINE_PAUSE);
}

void call_queues_resume(struct request *request) {
    change(request, ENGINE_RESUME);
}
