/* GET /v1/results/{id}: a handler's answer, for as long as its queue's `reply` keeps it. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "server/api/json/view_json.h"
#include "server/http/problem_json.h"
#include "server/http/request.h"

enum { DETAIL_MAX = 1024 };

/* ---- the state of a message without an answer ---- */

static void say(struct buf *out, struct bytes id, const struct envelope *envelope) {
    buf_printf(out, "\"%.*s\" ", BYTES_ARG(bytes_clip(id, REQUEST_QUOTE_MAX)));
    switch (envelope->state) {
    case STATE_QUEUED:
    case STATE_RUNNING:
    case STATE_RETRYING:
    case STATE_PENDING_RETRY:
        buf_printf(out,
                   "has not succeeded yet (%s); its answer is kept once it has, if its queue's "
                   "handler has `reply: {store: …}`",
                   state_text(envelope->state));
        break;
    case STATE_PENDING_REVIEW:
        buf_str(out, "is dead and has no answer; replay its letter to try it again");
        break;
    case STATE_REPLAYING:
        buf_str(out, "is being replayed; its answer is kept if it succeeds");
        break;
    case STATE_RESOLVED:
        buf_str(out, "is resolved, and no answer of it is kept");
        break;
    case STATE_DISCARDED:
        buf_str(out, "was discarded and has no answer");
        break;
    case STATE_COUNT:
        break;
    }
}

/* The problem says whether an answer can still arrive, for clients that poll. */
static void tell_state(struct request *request, const struct envelope *envelope) {
    char memory[DETAIL_MAX];
    struct buf detail;
    buf_init_fixed(&detail, memory, sizeof memory);
    say(&detail, request->params[0], envelope);
    struct json_out json = json_out(&request->out);
    problem_json_open(&json, STATUS_NOT_FOUND, buf_view(&detail), request->path, 0);
    json_key(&json, "state");
    json_put_str(&json, state_text(envelope->state));
    json_key(&json, "reason");
    json_put(&json, envelope->reason.len > 0 ? envelope->reason : BYTES_NONE);
    json_key(&json, "letter");
    json_put(&json, envelope->letter_id.len > 0 ? envelope->letter_id : BYTES_NONE);
    view_json_time(&json, "next_attempt_at", envelope->next_attempt_at);
    json_close(&json, '}');
    request_answer_as(request, (unsigned)status_http(STATUS_NOT_FOUND), PROBLEM_JSON_TYPE);
}

static void no_answer(struct request *request, struct bytes queue) {
    struct store *store = request->server->options.store;
    struct bytes id = request->params[0];
    struct message *held = NULL;
    struct err err;
    enum status status = letters_get(store->letters, queue, id, &held, &err);
    if (status == STATUS_OK)
        tell_state(request, &held->envelope);
    else if (status == STATUS_NOT_FOUND)
        request_problem(request, status,
                        "no answer is kept for \"%.*s\", and impound holds no such message: it "
                        "never came, it succeeded and its answer's time is over, or its queue's "
                        "handler has no `reply: {store: …}`",
                        BYTES_ARG(bytes_clip(id, REQUEST_QUOTE_MAX)));
    else
        request_problem(request, status, "%s%s", err.text,
                        status == STATUS_CONFLICT ? "; name one with ?queue=" : "");
    message_free(held);
}

void call_results(struct request *request) {
    struct store *store = request->server->options.store;
    struct bytes id = request->params[0], queue = request_arg(request, "queue"), value;
    uint32_t number = 0;
    struct err err;
    if (queue.len && !queue_index_find(request->server->queues, queue, &number)) {
        name_check_no_queue(request, queue);
        return;
    }
    enum status status = letters_note(store->letters, number, SPACE_RESULT, id,
                                      request_steady_now(request), &request->arena, &value, &err);
    if (status == STATUS_NOT_FOUND) {
        no_answer(request, queue);
    } else if (status != STATUS_OK) {
        request_problem(request, status, "%s%s", err.text,
                        status == STATUS_CONFLICT ? "; name one with ?queue=" : "");
    } else {
        buf_bytes(&request->out, value);
        request_answer(request, 200);
    }
}
