/* GET /v1/groups, GET and PATCH /v1/groups/{fingerprint}, GET /v1/groups/{fingerprint}/rule. */
#include "server/api/call.h"

#include "core/fingerprint.h"
#include "server/api/json/member.h"
#include "server/api/name_check.h"
#include "server/http/request.h"
#include "triage/groups/group.h"

enum { OWNER_MAX = 255, WHY_MAX = 1024 };

static void answer(struct request *request, enum status status, const struct err *err) {
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err->text);
}

/* False: the request has been answered. */
static bool read_fingerprint(struct request *request, uint64_t *out) {
    struct bytes text = request->params[0];
    if (fingerprint_parse(text, out))
        return true;
    request_problem(request, STATUS_INVALID, "\"%.*s\" is not a fingerprint (16 hex digits)",
                    BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)));
    return false;
}

static bool read_limit(struct request *request, size_t *limit) {
    struct bytes text = request_arg(request, "limit");
    uint64_t number = GROUP_LIMIT_MAX;
    if (text.ptr && (!bytes_u64(text, &number) || number == 0 || number > GROUP_LIMIT_MAX)) {
        request_problem(request, STATUS_INVALID, "limit: \"%.*s\" is not a number from 1 to %d",
                        BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)), GROUP_LIMIT_MAX);
        return false;
    }
    *limit = (size_t)number;
    return true;
}

static bool read_states(struct request *request, uint32_t *states) {
    struct bytes text = request_arg(request, "state");
    if (!text.ptr || group_states_parse(text, states))
        return true;
    request_problem(request, STATUS_INVALID,
                    "state: \"%.*s\" is none of open, muted, resolved, or some with commas",
                    BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)));
    return false;
}

void call_groups_list(struct request *request) {
    struct err err;
    struct group_filter filter = {.dlq = request_arg(request, "dlq"),
                                  .cursor = request_arg(request, "cursor")};
    if (name_check_dlq(request, filter.dlq) && read_limit(request, &filter.limit) &&
        read_states(request, &filter.states))
        answer(request, group_list(request->server->options.triage, &filter, &request->out, &err),
               &err);
}

static void show(struct request *request, uint64_t fingerprint) {
    struct err err;
    answer(request, group_show(request->server->options.triage, fingerprint, &request->out, &err),
           &err);
}

void call_groups_show(struct request *request) {
    uint64_t fingerprint;
    if (read_fingerprint(request, &fingerprint))
        show(request, fingerprint);
}

/* ---- changing ---- */

/* null removes the text, as an empty text does. */
static enum status set_text(struct json value, size_t most, struct arena *arena, struct bytes *out,
                            struct err *err) {
    *out = BYTES("");
    return value.type == JSON_NULL ? STATUS_OK : member_text(value, 0, most, arena, out, err);
}

static enum status set_note(void *into, struct json value, struct arena *arena, struct err *err) {
    return set_text(value, GROUP_NOTE_MAX, arena, &((struct group_change *)into)->note, err);
}

static enum status set_owner(void *into, struct json value, struct arena *arena, struct err *err) {
    return set_text(value, OWNER_MAX, arena, &((struct group_change *)into)->owner, err);
}

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, WHY_MAX, arena, &((struct group_change *)into)->why, err);
}

static enum status set_state(void *into, struct json value, struct arena *arena, struct err *err) {
    struct group_change *change = into;
    struct bytes text;
    change->has_state = json_string(value, arena, &text) && group_state_parse(text, &change->state);
    return change->has_state ? STATUS_OK
                             : err_set(err, STATUS_INVALID, "must be open, muted or resolved");
}

static const struct member change_members[] = {
    {"note", set_note}, {"owner", set_owner}, {"state", set_state}, {"why", set_why}};

void call_groups_patch(struct request *request) {
    uint64_t fingerprint;
    struct json object;
    struct err err;
    struct group_change change = {.who = request->actor};
    if (!read_fingerprint(request, &fingerprint) || !request_json(request, false, &object))
        return;
    enum status status = member_read(change_members, sizeof change_members / sizeof *change_members,
                                     object, &change, &request->arena, &err);
    if (status == STATUS_OK)
        status = group_patch(request->server->options.triage, fingerprint, &change, &err);
    if (status == STATUS_OK)
        show(request, fingerprint);
    else
        request_problem(request, status, "%s", err.text);
}

/* ---- as a rule ---- */

static bool read_verdict(struct request *request, enum verdict *out) {
    struct bytes text = request_arg(request, "do");
    if (verdict_parse(text, out))
        return true;
    request_problem(request, STATUS_INVALID,
                    "do: \"%.*s\" is none of retry, fallback, dlq, discard, halt",
                    BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)));
    return false;
}

void call_groups_rule(struct request *request) {
    enum verdict verdict;
    uint64_t fingerprint;
    struct err err;
    struct buf yaml;
    if (!read_fingerprint(request, &fingerprint) || !read_verdict(request, &verdict))
        return;
    buf_init_heap(&yaml, REQUEST_ANSWER_MAX);
    enum status status =
        group_rule(request->server->options.triage, fingerprint, verdict, &yaml, &err);
    if (status == STATUS_OK) {
        struct json_out json = json_out(&request->out);
        json_open(&json, '{');
        json_key(&json, "yaml");
        json_put(&json, buf_view(&yaml));
        json_close(&json, '}');
    }
    buf_free(&yaml);
    answer(request, status, &err);
}
