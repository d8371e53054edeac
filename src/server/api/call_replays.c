/* /v1/replays: plans and their progress, pause, resume and abort. */
#include "server/api/call.h"

#include "server/api/json/selection_json.h"
#include "server/api/json/view_json.h"
#include "server/api/name_check.h"
#include "triage/replay/replays.h"

enum { WHY_MAX = 1024, EDIT_MAX = JQ_PROGRAM_MAX, NAME_MAX_BYTES = 255 };

struct replay_body {
    struct selection_json choice;
    struct replay_order replay;
    bool dry_run;
};

/* ---- the body ---- */

static enum status set_edit(void *into, struct json value, struct arena *arena, struct err *err) {
    struct bytes *edit = &((struct replay_body *)into)->replay.edit;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_string(value, arena, edit) || edit->len == 0 || edit->len > EDIT_MAX)
        return err_set(err, STATUS_INVALID, "must be a jq program of at most %d bytes", EDIT_MAX);
    return STATUS_OK;
}

static enum status set_to(void *into, struct json value, struct arena *arena, struct err *err) {
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 1, NAME_MAX_BYTES, arena, &((struct replay_body *)into)->replay.to,
                       err);
}

static enum status set_rate(void *into, struct json value, struct arena *arena, struct err *err) {
    struct bytes text;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_string(value, arena, &text) ||
        !replay_rate_parse(text, &((struct replay_body *)into)->replay.rate))
        return err_set(err, STATUS_INVALID, "must be such as \"50/s\", \"15%%\" or \"max\"");
    return STATUS_OK;
}

static bool add_stage(struct replay_order *order, struct json value) {
    int64_t number;
    if (order->canary_count == REPLAY_STAGES_MAX || !json_i64(value, &number) || number < 1 ||
        number > REPLAY_RATE_MAX)
        return false;
    order->canary[order->canary_count++] = (uint32_t)number;
    return true;
}

/* true: the usual stages; false: none; a number: one stage; a list: stages. */
static enum status set_canary(void *into, struct json value, struct arena *arena, struct err *err) {
    struct replay_order *order = &((struct replay_body *)into)->replay;
    bool good = true;
    (void)arena;
    if (value.type == JSON_TRUE || value.type == JSON_NULL)
        return STATUS_OK;
    order->canary_count = 0;
    if (value.type == JSON_FALSE)
        return STATUS_OK;
    if (value.type == JSON_ARRAY) {
        for (struct json_walk walk = json_walk(value); json_step(&walk);)
            good = good && add_stage(order, walk.value);
    } else {
        good = add_stage(order, value);
    }
    if (good)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "must be false, a number of letters, or stages: [1, 10]");
}

static enum status set_flag(bool *flag, struct json value, struct err *err) {
    if (value.type != JSON_NULL && !json_bool(value, flag))
        return err_set(err, STATUS_INVALID, "must be true or false");
    return STATUS_OK;
}

static enum status set_ramp(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return set_flag(&((struct replay_body *)into)->replay.ramp, value, err);
}

static enum status set_dry_run(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    return set_flag(&((struct replay_body *)into)->dry_run, value, err);
}

static enum status set_stale(void *into, struct json value, struct arena *arena, struct err *err) {
    struct bytes text;
    bool *send = &((struct replay_body *)into)->replay.send_stale;
    if (value.type == JSON_NULL || json_bool(value, send))
        return STATUS_OK;
    if (!json_string(value, arena, &text) || (!bytes_is(text, "send") && !bytes_is(text, "skip")))
        return err_set(err, STATUS_INVALID, "must be \"skip\" or \"send\"");
    *send = bytes_is(text, "send");
    return STATUS_OK;
}

/* The value is checked with the plan. */
static enum status set_when_version(void *into, struct json value, struct arena *arena,
                                    struct err *err) {
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 1, NAME_MAX_BYTES, arena,
                       &((struct replay_body *)into)->replay.when_version, err);
}

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 0, WHY_MAX, arena, &((struct replay_body *)into)->replay.why, err);
}

static const struct member members[] = {
    SELECTION_JSON_MEMBERS,   {"edit", set_edit},
    {"to", set_to},           {"rate", set_rate},
    {"canary", set_canary},   {"ramp", set_ramp},
    {"stale", set_stale},     {"why", set_why},
    {"dry_run", set_dry_run}, {"when_version", set_when_version},
};

/* Letters can only go to a queue that is configured. False: the request has been answered. */
static bool names_target(struct request *request, const struct replay_order *order) {
    uint32_t number;
    if (order->to.len == 0 || replay_order_to_origin(order) ||
        queue_index_find(request->server->queues, order->to, &number))
        return true;
    name_check_no_queue(request, order->to);
    return false;
}

/* False: the request has been answered. */
static bool read_order(struct request *request, struct replay_body *order) {
    struct json object;
    struct err err;
    *order = (struct replay_body){.dry_run = true};
    replay_order_init(&order->replay);
    selection_json_init(&order->choice, &order->replay.selection, request);
    if (!request_json(request, false, &object))
        return false;
    enum status status = member_read(members, sizeof members / sizeof *members, object, order,
                                     &request->arena, &err);
    if (status == STATUS_OK)
        status = selection_finish(&order->replay.selection, &err);
    if (status != STATUS_OK) {
        request_problem(request, status, "%s", err.text);
        return false;
    }
    if (!name_check_filter(request, &order->replay.selection.query) ||
        !names_target(request, &order->replay))
        return false;
    if (order->dry_run)
        selection_json_may_leave(&order->choice, request);
    order->replay.who = request->actor;
    return true;
}

/* ---- calls ---- */

static void answer(struct request *request, enum status status, const struct err *err) {
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err->text);
}

void call_replays_create(struct request *request) {
    struct replays *replays = request->server->options.replays;
    struct replay_body order;
    char id[UUID_TEXT_SIZE];
    struct err err;
    if (!read_order(request, &order))
        return;
    enum status status = order.dry_run ? replays_plan(replays, &order.replay, &request->out, &err)
                                       : replays_start(replays, &order.replay, id, &err);
    if (status == STATUS_OK && !order.dry_run)
        status = replays_show(replays, bytes_of(id), 0, 0, &request->out, &err);
    answer(request, status, &err);
}

void call_replays_list(struct request *request) {
    size_t limit;
    struct err err;
    if (!request_limit(request, REPLAYS_LIMIT_DEFAULT, REPLAYS_LIMIT_MAX, &limit))
        return;
    enum status status = replays_list(request->server->options.replays,
                                      request_arg(request, "cursor"), limit, &request->out, &err);
    answer(request, status, &err);
}

void call_replays_show(struct request *request) {
    size_t limit;
    uint64_t from = 0;
    struct bytes cursor = request_arg(request, "cursor");
    struct err err;
    if (!request_limit(request, REPLAYS_LIMIT_DEFAULT, REPLAYS_LIMIT_MAX, &limit))
        return;
    if (cursor.len > 0 && !bytes_u64(cursor, &from)) {
        request_problem(request, STATUS_INVALID, "cursor: it is not one of this list");
        return;
    }
    enum status status = replays_show(request->server->options.replays, request->params[0], from,
                                      limit, &request->out, &err);
    answer(request, status, &err);
}

static void change(struct request *request, enum replay_change change) {
    static const struct member why_members[] = {{"why", set_why}};
    struct replays *replays = request->server->options.replays;
    struct replay_body order = {.dry_run = false};
    struct json object;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    enum status status = member_read(why_members, 1, object, &order, &request->arena, &err);
    if (status == STATUS_OK)
        status = replays_change(replays, request->params[0], change, request->actor,
                                order.replay.why, &err);
    if (status == STATUS_OK)
        status = replays_show(replays, request->params[0], 0, 0, &request->out, &err);
    answer(request, status, &err);
}

void call_replays_pause(struct request *request) {
    change(request, REPLAY_PAUSE);
}

void call_replays_resume(struct request *request) {
    change(request, REPLAY_RESUME);
}

void call_replays_abort(struct request *request) {
    change(request, REPLAY_ABORT);
}
