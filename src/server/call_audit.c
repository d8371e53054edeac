/* GET /v1/audit: who changed what, and why, newest first. */
#include "server/call.h"

#include "server/request.h"
#include "triage/audit.h"

/* False: the request has been answered. */
static bool read_limit(struct request *request, size_t *limit) {
    struct bytes text = request_arg(request, "limit");
    uint64_t number = AUDIT_LIMIT_DEFAULT;
    if (text.ptr && (!bytes_u64(text, &number) || number == 0 || number > AUDIT_LIMIT_MAX)) {
        request_problem(request, STATUS_INVALID, "limit: \"%.*s\" is not a number from 1 to %d",
                        BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)), AUDIT_LIMIT_MAX);
        return false;
    }
    *limit = (size_t)number;
    return true;
}

void call_audit(struct request *request) {
    size_t limit;
    struct err err;
    if (!read_limit(request, &limit))
        return;
    enum status status = audit_list(request->server->options.triage, request_arg(request, "cursor"),
                                    limit, &request->out, &err);
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err.text);
}
