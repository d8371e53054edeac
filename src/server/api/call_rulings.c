/* POST /v1/letters/{id}/resolve, /discard, /escalate, /compensate, and the same in bulk. */
#include "server/api/call.h"

#include "base/json/json_member.h"
#include "server/api/json/decision_order.h"
#include "server/api/json/view_json.h"
#include "triage/decide/decision.h"

static struct letter_decision ruling_of(struct request *request, enum decision_kind kind,
                                        const struct decision_order *order) {
    const struct live_config *config = &request->server->options.config;
    return (struct letter_decision){.kind = kind,
                                    .selection = order->selection,
                                    .why = order->why,
                                    .dry_run = order->dry_run,
                                    .who = request->actor,
                                    .compensates = config->compensates,
                                    .arg = config->arg};
}

static void decide_one(struct request *request, enum decision_kind kind) {
    struct decision_order order;
    struct message *held = NULL;
    struct err err;
    if (!decision_order_read_one(request, WHY_NEEDED, &order))
        return;
    struct letter_decision ruling = ruling_of(request, kind, &order);
    enum status status =
        decision_one(request->server->options.triage, &ruling, request_arg(request, "queue"),
                     request->params[0], &held, &err);
    if (status == STATUS_OK) {
        envelope_encode(&held->envelope, ENVELOPE_WITH_BODY, held->body, &request->out);
        request_answer(request, 200);
    } else {
        request_problem(request, status, "%s", err.text);
    }
    message_free(held);
}

static void put_result(struct request *request, const struct letter_decision *ruling,
                       const struct decision_result *result) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "action");
    json_put_str(&json, decision_text(ruling->kind));
    json_key(&json, "dry_run");
    json_put_bool(&json, ruling->dry_run);
    view_json_number(&json, "matched", result->matched);
    view_json_number(&json, "count", result->changed);
    view_json_number(&json, "busy", result->busy);
    if (ruling->kind == DECISION_COMPENSATE)
        view_json_number(&json, "unable", result->unable);
    json_key(&json, "cursor");
    json_put(&json, result->walked.cursor);
    view_json_walked(&json, &result->walked);
    if (ruling->dry_run && ruling->selection.id_count == 0)
        json_member_time(&json, "until", result->walked.until);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void decide_many(struct request *request, enum decision_kind kind) {
    struct decision_order order;
    struct decision_result result;
    struct err err;
    if (!decision_order_read_many(request, QUERY_LETTERS, WHY_NEEDED, &order))
        return;
    struct letter_decision ruling = ruling_of(request, kind, &order);
    enum status status = selection_finish(&ruling.selection, &err);
    if (status == STATUS_OK)
        status =
            decision_many(request->server->options.triage, &ruling, &request->arena, &result, &err);
    if (status == STATUS_OK)
        put_result(request, &ruling, &result);
    else
        request_problem(request, status, "%s", err.text);
}

void call_letter_resolve(struct request *request) {
    decide_one(request, DECISION_RESOLVE);
}

void call_letter_discard(struct request *request) {
    decide_one(request, DECISION_DISCARD);
}

void call_letter_escalate(struct request *request) {
    decide_one(request, DECISION_ESCALATE);
}

void call_letter_compensate(struct request *request) {
    decide_one(request, DECISION_COMPENSATE);
}

void call_letters_resolve(struct request *request) {
    decide_many(request, DECISION_RESOLVE);
}

void call_letters_discard(struct request *request) {
    decide_many(request, DECISION_DISCARD);
}

void call_letters_escalate(struct request *request) {
    decide_many(request, DECISION_ESCALATE);
}

void call_letters_compensate(struct request *request) {
    decide_many(request, DECISION_COMPENSATE);
}
