#include "server/api/json/report.h"

#include <assert.h>

#include <sodium.h>

#include "server/api/json/failure.h"
#include "server/api/json/member.h"
#include "server/api/json/push.h"

struct report_draft {
    struct message *held;
    struct outcome *outcome;
    struct wall now;
    int64_t attempts, max_attempts;
    bool has_payload;
    struct bytes entry_id;    /* the `id` of the task runner's entry */
    struct bytes runner_word; /* its `status` as text */
    struct wall created_at, first_attempted_at;
};

/* ---- setters: the failure ---- */

static enum status set_error_type(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    return failure_text(value, arena, &((struct report_draft *)into)->outcome->error_type, err);
}

static enum status set_error_message(void *into, struct json value, struct arena *arena,
                                     struct err *err) {
    return failure_text(value, arena, &((struct report_draft *)into)->outcome->error_message, err);
}

static enum status set_stack_trace(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    return failure_text(value, arena, &((struct report_draft *)into)->outcome->stack_trace, err);
}

static enum status set_version(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_text(value, arena, &((struct report_draft *)into)->outcome->version, err);
}

static enum status set_instance(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    return failure_text(value, arena, &((struct report_draft *)into)->outcome->instance, err);
}

/* The states of a task runner's entry, and whether the task is finished in that state. */
static const struct runner_status {
    const char *word;
    bool over;
} runner_statuses[] = {
    {"pending_retry", false}, {"retrying", false}, {"pending_review", false},
    {"resolved", true},       {"discarded", true},
};

/* A finished task must not run again because its entry was reported here. */
static enum status set_runner_status(struct report_draft *draft, struct bytes text,
                                     struct err *err) {
    for (size_t i = 0; i < sizeof runner_statuses / sizeof *runner_statuses; i++) {
        if (!bytes_eq(bytes_of(runner_statuses[i].word), text))
            continue;
        if (runner_statuses[i].over)
            return err_set(err, STATUS_INVALID,
                           "says that the task is %.*s; only tasks that failed are reported",
                           BYTES_ARG(text));
        draft->runner_word = text;
        return STATUS_OK;
    }
    return err_set(err, STATUS_INVALID,
                   "must be an HTTP status, or one of the words pending_retry, retrying and "
                   "pending_review");
}

static enum status set_status(void *into, struct json value, struct arena *arena, struct err *err) {
    struct report_draft *draft = into;
    struct bytes text;
    if (value.type == JSON_STRING && json_string(value, arena, &text))
        return set_runner_status(draft, text, err);
    return failure_status(value, draft->outcome, err);
}

static enum status set_retry_after(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    struct report_draft *draft = into;
    return failure_retry_after(value, draft->now, arena, draft->outcome, err);
}

static enum status set_verdict(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_verdict(value, arena, ((struct report_draft *)into)->outcome, err);
}

/* ---- setters: the message ---- */

static enum status set_task_id(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct envelope *envelope = &((struct report_draft *)into)->held->envelope;
    enum status status = member_text(value, 1, PUSH_ID_MAX, arena, &envelope->id, err);
    envelope->task_id = envelope->id;
    return status;
}

static enum status set_id(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, PUSH_ID_MAX, arena, &((struct report_draft *)into)->entry_id, err);
}

static enum status set_task_type(void *into, struct json value, struct arena *arena,
                                 struct err *err) {
    struct envelope *envelope = &((struct report_draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 0, REPORT_TASK_TYPE_MAX, arena, &envelope->task_type, err);
}

static enum status set_payload(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    (void)err;
    struct report_draft *draft = into;
    draft->has_payload = true;
    draft->held->body = value.text;
    return STATUS_OK;
}

static enum status set_context(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    struct envelope *envelope = &((struct report_draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (value.type != JSON_OBJECT)
        return err_set(err, STATUS_INVALID, "must be an object, not %s",
                       json_type_name(value.type));
    envelope->context = value.text;
    return STATUS_OK;
}

static enum status set_key(void *into, struct json value, struct arena *arena, struct err *err) {
    struct envelope *envelope = &((struct report_draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 1, PUSH_KEY_MAX, arena, &envelope->key, err);
}

static enum status set_headers(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct envelope *envelope = &((struct report_draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_headers(value, arena, &envelope->headers, &envelope->header_count, err);
}

/* ---- setters: its attempts ---- */

static enum status set_attempts(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    (void)arena;
    return failure_number(value, 1, REPORT_ATTEMPTS_MAX, &((struct report_draft *)into)->attempts,
                          err);
}

static enum status set_max_attempts(void *into, struct json value, struct arena *arena,
                                    struct err *err) {
    (void)arena;
    return failure_number(value, 1, REPORT_ATTEMPTS_MAX,
                          &((struct report_draft *)into)->max_attempts, err);
}

/* A time in the future, from a clock ahead of ours, is replaced by now. */
static enum status read_time(struct json value, struct wall now, struct arena *arena,
                             struct wall *out, struct err *err) {
    struct bytes text;
    struct wall at;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_string(value, arena, &text) || !wall_parse_utc(text, &at) || at.ms <= 0)
        return err_set(err, STATUS_INVALID, "must be a time such as \"2026-01-31T12:00:00Z\"");
    *out = at.ms < now.ms ? at : now;
    return STATUS_OK;
}

static enum status set_last_attempted_at(void *into, struct json value, struct arena *arena,
                                         struct err *err) {
    struct report_draft *draft = into;
    return read_time(value, draft->now, arena, &draft->outcome->failed_at, err);
}

static enum status set_created_at(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    struct report_draft *draft = into;
    return read_time(value, draft->now, arena, &draft->created_at, err);
}

static enum status set_first_attempted_at(void *into, struct json value, struct arena *arena,
                                          struct err *err) {
    struct report_draft *draft = into;
    return read_time(value, draft->now, arena, &draft->first_attempted_at, err);
}

/* An entry that is dumped with all members has this one, and it is null while the task is not done.
 */
static enum status set_resolved_at(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    (void)into;
    (void)arena;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "must be null: only tasks that failed are reported");
}

/* Some members have aliases, which are other programs' names for the same. */
static const struct member members[] = {
    {"task_id", set_task_id},
    {"id", set_id},
    {"task_type", set_task_type},
    {"payload", set_payload},
    {"error_type", set_error_type},
    {"version", set_version},
    {"error_message", set_error_message},
    {"stack_trace", set_stack_trace},
    {"attempts", set_attempts},
    {"attempt_count", set_attempts},
    {"max_attempts", set_max_attempts},
    {"max_retries", set_max_attempts},
    {"failed_at", set_last_attempted_at},
    {"last_attempted_at", set_last_attempted_at},
    {"first_attempted_at", set_first_attempted_at},
    {"created_at", set_created_at},
    {"resolved_at", set_resolved_at},
    {"consumer_instance", set_instance},
    {"context", set_context},
    {"status", set_status},
    {"retry_after", set_retry_after},
    {"verdict", set_verdict},
    {"key", set_key},
    {"headers", set_headers},
};

static void put_beside(struct json_out *json, struct json context, const char *name,
                       struct bytes text) {
    struct json own;
    if (text.len == 0 || json_get(context, name, &own))
        return;
    json_key(json, name);
    json_put(json, text);
}

/* The entry's own members are added to the context, under the names that adopted entries have; an
 * existing member of the context is kept. */
static enum status add_to_context(struct report_draft *draft, struct err *err) {
    struct envelope *envelope = &draft->held->envelope;
    struct json context = {.type = JSON_OBJECT, .text = BYTES("{}")};
    if (draft->entry_id.len == 0 && draft->runner_word.len == 0)
        return STATUS_OK;
    if (envelope->context.len > 0 && json_parse(envelope->context, &context, err) != STATUS_OK)
        return STATUS_INVALID;
    struct buf out;
    buf_init_heap(&out, context.text.len + REPORT_BESIDE_MAX);
    struct json_out json = json_out(&out);
    struct json_walk walk = json_walk(context);
    json_open(&json, '{');
    put_beside(&json, context, "entry", draft->entry_id);
    put_beside(&json, context, "status", draft->runner_word);
    if (json_step(&walk) && json.comma)
        buf_char(&out, ',');
    buf_bytes(&out, bytes_cut(context.text, 1, context.text.len));
    assert(!out.overflow);
    envelope->context = arena_dup(&draft->held->arena, buf_view(&out));
    buf_free(&out);
    return STATUS_OK;
}

static struct wall earlier(struct wall a, struct wall b) {
    return a.ms > 0 && a.ms < b.ms ? a : b;
}

static void fill_in(struct report_draft *draft, struct bytes queue) {
    struct message *held = draft->held;
    struct envelope *envelope = &held->envelope;
    if (!draft->has_payload)
        held->body = BYTES("null");
    envelope->queue = arena_dup(&held->arena, queue);
    envelope->content_type = BYTES("application/json");
    envelope->size = held->body.len;
    envelope->source = BYTES("{\"kind\":\"report\"}");
    envelope->created_at =
        earlier(draft->created_at,
                earlier(draft->first_attempted_at, earlier(draft->outcome->failed_at, draft->now)));
    envelope->attempts = (uint32_t)draft->attempts;
    envelope->max_attempts = (uint32_t)draft->max_attempts;
    envelope->retry_after_ms = -1;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)held->body.ptr, held->body.len);
    sodium_bin2hex(envelope->content_hash, sizeof envelope->content_hash, hash, sizeof hash);
}

enum status report_parse(struct json object, struct bytes queue, struct wall now,
                         struct message *held, struct outcome *outcome, struct err *err) {
    /* The request's memory is freed before the engine has finished with the message. */
    object.text = arena_dup(&held->arena, object.text);
    *outcome =
        (struct outcome){.ending = ENDING_FAILED, .kind = KIND_REPORTED, .retry_after_ms = -1};
    struct report_draft draft = {.held = held, .outcome = outcome, .now = now, .attempts = 1};
    if (member_read(members, sizeof members / sizeof *members, object, &draft, &held->arena, err) !=
        STATUS_OK)
        return STATUS_INVALID;
    if (!held->envelope.id.ptr) {
        held->envelope.id = held->envelope.task_id = draft.entry_id;
        draft.entry_id = BYTES_NONE;
    }
    if (!held->envelope.id.ptr)
        return err_set(err, STATUS_INVALID, "\"task_id\" is missing");
    fill_in(&draft, queue);
    return add_to_context(&draft, err);
}
