/* /v1/dlqs: how the DLQs are. Configured ones are there even when nothing ever died. */
#include "server/call.h"

#include "server/request.h"
#include "server/view.h"

void call_dlqs_list(struct request *request) {
    const struct server_options *options = &request->server->options;
    struct wall now = request_now(request);
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "dlqs");
    json_open(&json, '[');
    struct bytes *names;
    size_t count = view_dlq_names(options, &request->arena, &names);
    for (size_t i = 0; i < count; i++) {
        struct view_dlq dlq;
        if (view_dlq_find(options, names[i], now, &request->arena, &dlq))
            view_dlq(&json, &dlq, now);
    }
    json_close(&json, ']');
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_dlqs_show(struct request *request) {
    struct wall now = request_now(request);
    struct view_dlq dlq;
    if (!view_dlq_find(&request->server->options, request->params[0], now, &request->arena, &dlq)) {
        request_no_dlq(request, request->params[0]);
        return;
    }
    struct json_out json = json_out(&request->out);
    view_dlq(&json, &dlq, now);
    request_answer(request, 200);
}
