/* GET /v1/alerts, POST /v1/alerts/test */
#include "server/call.h"

#include "server/request.h"
#include "triage/alerts.h"

void call_alerts_list(struct request *request) {
    alerts_json(request->server->options.alerts, &request->out);
    request_answer(request, 200);
}

static void tried(struct alerts_trial *trial) {
    struct request *request = trial->arg;
    if (trial->tried > 0 || trial->to.len == 0)
        request_answer(request, 200);
    else
        request_problem(request, STATUS_NOT_FOUND, "there is no alert receiver \"%.*s\"",
                        BYTES_ARG(bytes_clip(trial->to, REQUEST_QUOTE_MAX)));
}

void call_alerts_test(struct request *request) {
    struct json object, to;
    struct alerts_trial *trial = arena_alloc(&request->arena, sizeof *trial);
    if (!request_json(request, true, &object))
        return;
    if (json_get(object, "to", &to) && !json_string(to, &request->arena, &trial->to)) {
        request_problem(request, STATUS_INVALID, "to: expected a receiver's name, got %s",
                        json_type_name(to.type));
        return;
    }
    trial->done = tried;
    trial->arg = request;
    trial->out = &request->out;
    alerts_try(request->server->options.alerts, trial);
}
