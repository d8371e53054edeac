/* POST /v1/queues/{queue}/failures: judged by the engine, answered once the result is durable. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "server/api/json/report.h"
#include "server/api/json/view_json.h"
#include "server/http/request.h"

struct reporting {
    struct engine_request asked;
    bool by_alias; /* the report used attempt_count, max_retries or last_attempted_at */
};

/* The aliases that task runners use, for reports that used them. */
static void put_aliases(struct json_out *json, const struct envelope *envelope) {
    view_json_number(json, "attempt_count", envelope->attempts);
    view_json_number(json, "max_retries", envelope->max_attempts);
    view_json_time(json, "last_attempted_at", envelope->last_failure_at);
}

static void put_judgement(struct json_out *json, const struct envelope *envelope,
                          enum verdict verdict, bool by_alias) {
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, envelope->id);
    json_key(json, "state");
    json_put_str(json, state_text(envelope->state));
    json_key(json, "verdict");
    json_put_str(json, verdict_text(verdict));
    json_key(json, "reason");
    json_put(json, envelope->reason);
    if (envelope->letter_id.len > 0) {
        json_key(json, "letter");
        json_put(json, envelope->letter_id);
    } else {
        view_json_time(json, "next_attempt_at", envelope->next_attempt_at);
    }
    if (by_alias)
        put_aliases(json, envelope);
    json_close(json, '}');
}

/* Runs on the engine's thread. */
static void judged(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    struct message *held = asked->held_take;
    if (status == STATUS_OK) {
        struct json_out json = json_out(&request->out);
        put_judgement(&json, &held->envelope, asked->verdict,
                      CONTAINER_OF(asked, struct reporting, asked)->by_alias);
        request_answer(request, 200);
    } else if (status == STATUS_NOT_FOUND) {
        name_check_no_queue(request, asked->queue);
    } else {
        request_problem(request, status, "the report was not taken: %s", asked->err.text);
    }
    message_free(held);
}

void call_report(struct request *request) {
    struct json object;
    if (!request_json(request, false, &object))
        return;
    struct reporting *reporting = arena_alloc(&request->arena, sizeof *reporting);
    struct engine_request *asked = &reporting->asked;
    struct message *held = message_new();
    struct err err;
    if (report_parse(object, request->params[0], request_now(request), held, &asked->outcome,
                     &err) != STATUS_OK) {
        message_free(held);
        request_problem(request, STATUS_INVALID, "the report: %s", err.text);
        return;
    }
    struct json alias;
    reporting->by_alias = json_get(object, "attempt_count", &alias) ||
                          json_get(object, "max_retries", &alias) ||
                          json_get(object, "last_attempted_at", &alias);
    asked->kind = ENGINE_REPORT;
    asked->queue = request->params[0];
    asked->done = judged;
    asked->arg = request;
    asked->held_take = held;
    engine_ask(request->server->options.engine, asked);
}
