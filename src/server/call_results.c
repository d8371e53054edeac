/* GET /v1/results/{id}: a handler's answer, for as long as its queue's `reply` keeps it. */
#include "server/call.h"

#include "server/request.h"

void call_results(struct request *request) {
    struct store *store = request->server->options.store;
    struct bytes id = request->params[0], queue = request_arg(request, "queue"), value;
    uint32_t number = 0;
    struct err err;
    if (queue.len && !known_find(request->server->known, queue, &number)) {
        request_no_queue(request, queue);
        return;
    }
    enum status status =
        store->vtable->kept(store, number, SPACE_RESULT, id, request_steady_now(request),
                            &request->arena, &value, &err);
    if (status == STATUS_NOT_FOUND) {
        request_problem(request, status,
                        "no answer is kept for \"%.*s\": it has not succeeded yet, its time is "
                        "over, or its queue's handler has no `reply: {store: …}`",
                        BYTES_ARG(bytes_clip(id, REQUEST_QUOTE_MAX)));
    } else if (status != STATUS_OK) {
        request_problem(request, status, "%s%s", err.text,
                        status == STATUS_CONFLICT ? "; name one with ?queue=" : "");
    } else {
        buf_bytes(&request->out, value);
        request_answer(request, 200);
    }
}
