#include "server/api/json/lease_json.h"

#include "server/api/json/failure.h"
#include "server/api/json/member.h"

enum {
    LEASE_TEXT_MAX = 255
}; /* bytes; longer than any lease id. A text that is no lease id gives NOT_FOUND */

/* ---- requests for messages ---- */

static enum status set_max(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    struct engine_lease *lease = into;
    int64_t max = LEASE_JSON_MAX;
    enum status status = failure_number(value, 1, ENGINE_LEASE_MESSAGES_MAX, &max, err);
    lease->max = (uint32_t)max;
    return status;
}

static enum status set_wait_ms(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    return failure_number(value, 0, ENGINE_LEASE_WAIT_MAX_MS,
                          &((struct engine_lease *)into)->wait_ms, err);
}

static enum status set_first_lease_ms(void *into, struct json value, struct arena *arena,
                                      struct err *err) {
    (void)arena;
    return failure_number(value, 1, ENGINE_LEASE_MAX_MS, &((struct engine_lease *)into)->lease_ms,
                          err);
}

static enum status set_ask_version(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    return failure_text(value, arena, &((struct engine_lease *)into)->version, err);
}

static enum status set_ask_instance(void *into, struct json value, struct arena *arena,
                                    struct err *err) {
    return failure_text(value, arena, &((struct engine_lease *)into)->instance, err);
}

static const struct member ask_members[] = {
    {"max", set_max},
    {"wait_ms", set_wait_ms},
    {"lease_ms", set_first_lease_ms},
    {"version", set_ask_version},
    {"consumer_instance", set_ask_instance},
};

enum status lease_json_parse_ask(struct json object, struct arena *arena, struct engine_lease *out,
                                 struct err *err) {
    *out = (struct engine_lease){
        .max = LEASE_JSON_MAX, .wait_ms = LEASE_JSON_WAIT_MS, .lease_ms = LEASE_JSON_LEASE_MS};
    return member_read(ask_members, sizeof ask_members / sizeof *ask_members, object, out, arena,
                       err);
}

/* ---- one answer ---- */

struct lease_draft {
    struct engine_release *release;
    struct wall now;
};

static struct outcome *outcome_of(void *into) {
    return &((struct lease_draft *)into)->release->outcome;
}

static enum status set_lease(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, LEASE_TEXT_MAX, arena,
                       &((struct lease_draft *)into)->release->lease, err);
}

static enum status set_result(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    (void)err;
    outcome_of(into)->answer = value.text;
    outcome_of(into)->answer_type = BYTES("application/json");
    return STATUS_OK;
}

static enum status set_error_type(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    return failure_text(value, arena, &outcome_of(into)->error_type, err);
}

static enum status set_error_message(void *into, struct json value, struct arena *arena,
                                     struct err *err) {
    return failure_text(value, arena, &outcome_of(into)->error_message, err);
}

static enum status set_stack_trace(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    return failure_text(value, arena, &outcome_of(into)->stack_trace, err);
}

static enum status set_version(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_text(value, arena, &outcome_of(into)->version, err);
}

static enum status set_instance(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    return failure_text(value, arena, &outcome_of(into)->instance, err);
}

static enum status set_status(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return failure_status(value, outcome_of(into), err);
}

static enum status set_verdict(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_verdict(value, arena, outcome_of(into), err);
}

static enum status set_retry_after(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    return failure_retry_after(value, ((struct lease_draft *)into)->now, arena, outcome_of(into),
                               err);
}

static enum status set_lease_ms(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    (void)arena;
    return failure_number(value, 1, ENGINE_LEASE_MAX_MS,
                          &((struct lease_draft *)into)->release->lease_ms, err);
}

/* `lease` is the first member, in bulk only: a single call has it in its path. */
static const struct member ack_members[] = {
    {"lease", set_lease},
    {"result", set_result},
};
static const struct member fail_members[] = {
    {"lease", set_lease},
    {"error_type", set_error_type},
    {"error_message", set_error_message},
    {"stack_trace", set_stack_trace},
    {"status", set_status},
    {"verdict", set_verdict},
    {"retry_after", set_retry_after},
    {"version", set_version},
    {"consumer_instance", set_instance},
};
static const struct member extend_members[] = {
    {"lease", set_lease},
    {"lease_ms", set_lease_ms},
};

#define MEMBERS(table) table, sizeof table / sizeof *table

static const struct {
    const char *name;
    const struct member *members;
    size_t count;
} kinds[] = {
    [RELEASE_ACK] = {"ack", MEMBERS(ack_members)},
    [RELEASE_FAIL] = {"fail", MEMBERS(fail_members)},
    [RELEASE_EXTEND] = {"extend", MEMBERS(extend_members)},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct engine_release blank(enum engine_release_kind kind) {
    bool failed = kind == RELEASE_FAIL;
    return (struct engine_release){.kind = kind,
                                   .outcome = {.ending = failed ? ENDING_FAILED : ENDING_OK,
                                               .kind = KIND_REPORTED,
                                               .retry_after_ms = -1}};
}

enum status lease_json_parse_one(struct json object, enum engine_release_kind kind,
                                 struct bytes lease, struct wall now, struct arena *arena,
                                 struct engine_release *out, struct err *err) {
    *out = blank(kind);
    out->lease = lease;
    return member_read(kinds[kind].members + 1, kinds[kind].count - 1, object,
                       &(struct lease_draft){out, now}, arena, err);
}

/* ---- many answers ---- */

static enum status parse_item(struct json value, enum engine_release_kind kind, struct wall now,
                              struct arena *arena, struct engine_release *out, struct err *err) {
    struct lease_draft draft = {out, now};
    *out = blank(kind);
    if (value.type != JSON_OBJECT)
        return set_lease(&draft, value, arena, err);
    enum status status =
        member_read(kinds[kind].members, kinds[kind].count, value, &draft, arena, err);
    if (status == STATUS_OK && !out->lease.ptr)
        return err_set(err, STATUS_INVALID, "\"lease\" is missing");
    return status;
}

struct lease_bulk {
    struct json lists[KINDS]; /* JSON_NULL: not given */
    struct wall now;
    struct engine_release *releases;
    size_t count;
};

static enum status keep_list(struct lease_bulk *bulk, enum engine_release_kind kind,
                             struct json value, struct err *err) {
    if (value.type != JSON_ARRAY && value.type != JSON_NULL)
        return err_set(err, STATUS_INVALID, "must be a list, not %s", json_type_name(value.type));
    bulk->lists[kind] = value;
    return STATUS_OK;
}

static enum status set_ack(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return keep_list(into, RELEASE_ACK, value, err);
}

static enum status set_fail(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return keep_list(into, RELEASE_FAIL, value, err);
}

static enum status set_extend(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return keep_list(into, RELEASE_EXTEND, value, err);
}

static const struct member bulk_members[] = {
    {"ack", set_ack},
    {"fail", set_fail},
    {"extend", set_extend},
};

static size_t count_items(const struct lease_bulk *bulk) {
    size_t count = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (struct json_walk walk = json_walk(bulk->lists[kind]); json_step(&walk);)
            count++;
    return count;
}

static enum status parse_list(struct lease_bulk *bulk, enum engine_release_kind kind,
                              struct arena *arena, struct err *err) {
    size_t place = 0;
    for (struct json_walk walk = json_walk(bulk->lists[kind]); json_step(&walk); place++) {
        struct err why;
        if (parse_item(walk.value, kind, bulk->now, arena, &bulk->releases[bulk->count++], &why) !=
            STATUS_OK)
            return err_set(err, STATUS_INVALID, "%s[%zu]: %s", kinds[kind].name, place, why.text);
    }
    return STATUS_OK;
}

enum status lease_json_parse_bulk(struct json object, struct wall now, struct arena *arena,
                                  struct engine_release **out, size_t *count, struct err *err) {
    struct lease_bulk bulk = {.now = now};
    enum status status = member_read(MEMBERS(bulk_members), object, &bulk, arena, err);
    if (status != STATUS_OK)
        return status;
    size_t total = count_items(&bulk);
    if (total > ENGINE_LEASE_MESSAGES_MAX)
        return err_set(err, STATUS_INVALID, "there are %zu answers; at most %d are taken at a time",
                       total, ENGINE_LEASE_MESSAGES_MAX);
    bulk.releases = arena_alloc(arena, (total + 1) * sizeof *bulk.releases);
    for (size_t kind = 0; kind < KINDS && status == STATUS_OK; kind++)
        status = parse_list(&bulk, (enum engine_release_kind)kind, arena, err);
    *out = bulk.releases;
    *count = bulk.count;
    return status;
}
