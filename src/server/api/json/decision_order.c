#include "server/api/json/decision_order.h"

#include "server/api/name_check.h"

enum { WHY_MAX = 1024 };

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, WHY_MAX, arena, &((struct decision_order *)into)->why, err);
}

static enum status set_dry_run(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    if (!json_bool(value, &((struct decision_order *)into)->dry_run))
        return err_set(err, STATUS_INVALID, "must be true or false");
    return STATUS_OK;
}

static const struct member one_members[] = {{"why", set_why}};
static const struct member many_members[] = {
    SELECTION_JSON_MEMBERS,
    {"cursor", selection_json_cursor},
    {"why", set_why},
    {"dry_run", set_dry_run},
};

static bool read_members(struct request *request, const struct member *members, size_t count,
                         enum query_scope scope, enum decision_why why,
                         struct decision_order *out) {
    struct json object;
    struct err err;
    *out = (struct decision_order){.dry_run = false};
    selection_json_init(&out->choice, &out->selection, request);
    query_init(&out->selection.query, scope);
    if (!request_json(request, why == WHY_OPTIONAL, &object))
        return false;
    if (member_read(members, count, object, out, &request->arena, &err) != STATUS_OK) {
        request_problem(request, STATUS_INVALID, "%s", err.text);
        return false;
    }
    if (why == WHY_NEEDED && out->why.len == 0 && !out->dry_run) {
        request_problem(request, STATUS_INVALID, "\"why\" is missing: say why, for the audit");
        return false;
    }
    return true;
}

bool decision_order_read_one(struct request *request, enum decision_why why,
                             struct decision_order *out) {
    return name_check_queue(request, request_arg(request, "queue")) &&
           read_members(request, one_members, sizeof one_members / sizeof *one_members,
                        QUERY_LETTERS, why, out);
}

bool decision_order_read_many(struct request *request, enum query_scope scope,
                              enum decision_why why, struct decision_order *out) {
    if (!read_members(request, many_members, sizeof many_members / sizeof *many_members, scope, why,
                      out) ||
        !name_check_filter(request, &out->selection.query))
        return false;
    out->selection.in_parts = true;
    if (out->dry_run)
        selection_json_may_leave(&out->choice, request);
    return true;
}
