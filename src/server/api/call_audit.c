/* GET /v1/audit: who changed what, and why, newest first. */
#include "server/api/call.h"

#include "server/http/request.h"
#include "triage/query/audit.h"

void call_audit(struct request *request) {
    size_t limit;
    struct err err;
    if (!request_limit(request, AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX, &limit))
        return;
    enum status status = audit_list(request->server->options.triage, request_arg(request, "cursor"),
                                    limit, &request->out, &err);
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err.text);
}
