/* /v1/dlqs: the state of the DLQs, and resuming their triage rules. Configured DLQs are listed even
 * if no message ever died. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "server/api/json/member.h"
#include "server/api/json/view_json.h"
#include "server/http/request.h"

enum { WHY_MAX = 255 };

void call_dlqs_list(struct request *request) {
    const struct server_options *options = &request->server->options;
    struct wall now = request_now(request);
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "dlqs");
    json_open(&json, '[');
    struct bytes *names;
    size_t count = view_json_dlq_names(options, &request->arena, &names);
    for (size_t i = 0; i < count; i++) {
        struct view_json_dlq dlq;
        if (view_json_dlq_find(options, names[i], now, &request->arena, &dlq) &&
            !view_json_dlq_is_over(&dlq))
            view_json_dlq(&json, options, &dlq, now);
    }
    json_close(&json, ']');
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_dlqs_show(struct request *request) {
    struct wall now = request_now(request);
    struct view_json_dlq dlq;
    if (!view_json_dlq_find(&request->server->options, request->params[0], now, &request->arena,
                            &dlq)) {
        name_check_no_dlq(request, request->params[0]);
        return;
    }
    struct json_out json = json_out(&request->out);
    view_json_dlq(&json, &request->server->options, &dlq, now);
    request_answer(request, 200);
}

void call_dlqs_states(struct request *request) {
    struct view_json_dlq dlq;
    if (!view_json_dlq_find(&request->server->options, request->params[0], request_now(request),
                            &request->arena, &dlq)) {
        name_check_no_dlq(request, request->params[0]);
        return;
    }
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "dlq");
    json_put(&json, dlq.name);
    view_json_dlq_states(&json, &dlq);
    json_close(&json, '}');
    request_answer(request, 200);
}

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    return value.type == JSON_NULL ? STATUS_OK : member_text(value, 0, WHY_MAX, arena, into, err);
}

void call_dlqs_resume(struct request *request) {
    static const struct member members[] = {{"why", set_why}};
    struct triage_rules *rules = request->server->options.rules;
    struct json object;
    struct bytes why = BYTES_NONE;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    enum status status = member_read(members, 1, object, &why, &request->arena, &err);
    if (status == STATUS_OK)
        status = triage_rules_resume(rules, request->params[0], request->actor, why, &err);
    if (status == STATUS_OK)
        call_dlqs_show(request);
    else
        request_problem(request, status, "%s", err.text);
}

/* ---- GET /v1/adoptions: progress of the adoption of other systems' dead letters ---- */

void call_adoptions(struct request *request) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "adoptions");
    adopt_put(request->server->options.adopt, BYTES_NONE, &json);
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    request_answer(request, 200);
}
