/* GET /v1/arrivals?window=: how many letters arrived when, by category. */
#include "server/call.h"

#include "server/http/request.h"
#include "triage/arrivals.h"

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
