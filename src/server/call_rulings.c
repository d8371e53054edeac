/* POST /v1/letters/{id}/resolve, /discard, /escalate, /compensate, and the same in bulk. */
#include "server/call.h"

#include "base/json_member.h"
#include "server/choice.h"
#include "server/view.h"
#include "triage/ruling.h"

enum { WHY_MAX = 1024 };

struct order {
    struct choice choice;
    struct ruling ruling;
};

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    struct order *order = into;
    return member_text(value, 1, WHY_MAX, arena, &order->ruling.why, err);
}

static enum status set_dry_run(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    if (!json_bool(value, &((struct order *)into)->ruling.dry_run))
        return err_set(err, STATUS_INVALID, "must be true or false");
    return STATUS_OK;
}

static const struct member one_members[] = {{"why", set_why}};
static const struct member many_members[] = {
    CHOICE_MEMBERS,
    {"cursor", choice_cursor},
    {"why", set_why},
    {"dry_run", set_dry_run},
};

/* False: the request has been answered. */
static bool read_order(struct request *request, enum ruling_kind kind, const struct member *members,
                       size_t count, struct order *order) {
    struct json object;
    struct err err;
    *order = (struct order){.ruling = {.kind = kind}};
    choice_init(&order->choice, &order->ruling.selection, request);
    if (!request_json(request, false, &object))
        return false;
    if (member_read(members, count, object, order, &request->arena, &err) != STATUS_OK) {
        request_problem(request, STATUS_INVALID, "%s", err.text);
        return false;
    }
    if (order->ruling.why.len == 0 && !order->ruling.dry_run) {
        request_problem(request, STATUS_INVALID, "\"why\" is missing: say why, for the audit");
        return false;
    }
    order->ruling.selection.in_parts = true;
    if (order->ruling.dry_run) /* what acts is not left half done */
        choice_may_leave(&order->choice, request);
    order->ruling.who = request->actor;
    order->ruling.compensates = request->server->options.config.compensates;
    order->ruling.arg = request->server->options.config.arg;
    return true;
}

static void decide_one(struct request *request, enum ruling_kind kind) {
    struct order order;
    struct store_held *held = NULL;
    struct err err;
    if (!read_order(request, kind, one_members, 1, &order))
        return;
    enum status status = ruling_one(request->server->options.triage, &order.ruling,
                                    request_arg(request, "queue"), request->params[0], &held, &err);
    if (status == STATUS_OK) {
        envelope_encode(&held->envelope, ENVELOPE_WITH_BODY, held->body, &request->out);
        request_answer(request, 200);
    } else {
        request_problem(request, status, "%s", err.text);
    }
    store_held_free(held);
}

static void put_result(struct request *request, const struct ruling *ruling,
                       const struct ruling_result *result) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "action");
    json_put_str(&json, ruling_text(ruling->kind));
    json_key(&json, "dry_run");
    json_put_bool(&json, ruling->dry_run);
    view_number(&json, "matched", result->matched);
    view_number(&json, "count", result->changed);
    view_number(&json, "busy", result->busy);
    if (ruling->kind == RULING_COMPENSATE)
        view_number(&json, "unable", result->unable);
    json_key(&json, "cursor");
    json_put(&json, result->walked.cursor);
    view_walked(&json, &result->walked);
    if (ruling->dry_run && ruling->selection.id_count == 0)
        json_member_time(&json, "until", result->walked.until);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void decide_many(struct request *request, enum ruling_kind kind) {
    struct order order;
    struct ruling_result result;
    struct err err;
    if (!read_order(request, kind, many_members, sizeof many_members / sizeof *many_members,
                    &order))
        return;
    enum status status = selection_finish(&order.ruling.selection, &err);
    if (status == STATUS_OK)
        status = ruling_many(request->server->options.triage, &order.ruling, &request->arena,
                             &result, &err);
    if (status == STATUS_OK)
        put_result(request, &order.ruling, &result);
    else
        request_problem(request, status, "%s", err.text);
}

void call_letter_resolve(struct request *request) {
    decide_one(request, RULING_RESOLVE);
}

void call_letter_discard(struct request *request) {
    decide_one(request, RULING_DISCARD);
}

void call_letter_escalate(struct request *request) {
    decide_one(request, RULING_ESCALATE);
}

void call_letter_compensate(struct request *request) {
    decide_one(request, RULING_COMPENSATE);
}

void call_letters_resolve(struct request *request) {
    decide_many(request, RULING_RESOLVE);
}

void call_letters_discard(struct request *request) {
    decide_many(request, RULING_DISCARD);
}

void call_letters_escalate(struct request *request) {
    decide_many(request, RULING_ESCALATE);
}

void call_letters_compensate(struct request *request) {
    decide_many(request, RULING_COMPENSATE);
}
