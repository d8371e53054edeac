/* GET /v1/alerts, POST /v1/alerts/test */
#include "server/api/call.h"

#include "server/api/json/member.h"
#include "server/http/request.h"
#include "triage/alerts/alerts.h"

enum { NAME_MAX_BYTES = 255 };

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

static enum status set_to(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 0, NAME_MAX_BYTES, arena, into, err);
}

void call_alerts_test(struct request *request) {
    static const struct member members[] = {{"to", set_to}};
    struct alerts_trial *trial = arena_alloc(&request->arena, sizeof *trial);
    struct json object;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    if (member_read(members, 1, object, &trial->to, &request->arena, &err) != STATUS_OK) {
        request_problem(request, STATUS_INVALID, "%s", err.text);
        return;
    }
    trial->done = tried;
    trial->arg = request;
    trial->out = &request->out;
    alerts_try(request->server->options.alerts, trial);
}
