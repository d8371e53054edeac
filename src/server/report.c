#include "server/report.h"

#include <sodium.h>

#include "server/failure.h"
#include "server/member.h"
#include "server/push.h"

struct draft {
    struct store_held *held;
    struct outcome *outcome;
    struct wall now;
    int64_t attempts, max_attempts;
    bool has_payload;
};

/* ---- setters: the failure ---- */

static enum status set_error_type(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    return failure_text(value, arena, &((struct draft *)into)->outcome->error_type, err);
}

static enum status set_error_message(void *into, struct json value, struct arena *arena,
                                     struct err *err) {
    return failure_text(value, arena, &((struct draft *)into)->outcome->error_message, err);
}

static enum status set_stack_trace(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    return failure_text(value, arena, &((struct draft *)into)->outcome->stack_trace, err);
}

static enum status set_version(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_text(value, arena, &((struct draft *)into)->outcome->version, err);
}

static enum status set_instance(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    return failure_text(value, arena, &((struct draft *)into)->outcome->instance, err);
}

static enum status set_status(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    return failure_status(value, ((struct draft *)into)->outcome, err);
}

static enum status set_retry_after(void *into, struct json value, struct arena *arena,
                                   struct err *err) {
    struct draft *draft = into;
    return failure_retry_after(value, draft->now, arena, draft->outcome, err);
}

static enum status set_verdict(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    return failure_verdict(value, arena, ((struct draft *)into)->outcome, err);
}

/* ---- setters: the message ---- */

static enum status set_task_id(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct envelope *envelope = &((struct draft *)into)->held->envelope;
    enum status status = member_text(value, 1, PUSH_ID_MAX, arena, &envelope->id, err);
    envelope->task_id = envelope->id;
    return status;
}

static enum status set_task_type(void *into, struct json value, struct arena *arena,
                                 struct err *err) {
    struct envelope *envelope = &((struct draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 0, REPORT_TASK_TYPE_MAX, arena, &envelope->task_type, err);
}

static enum status set_payload(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    (void)err;
    struct draft *draft = into;
    draft->has_payload = true;
    draft->held->body = value.text;
    return STATUS_OK;
}

static enum status set_context(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    struct envelope *envelope = &((struct draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (value.type != JSON_OBJECT)
        return err_set(err, STATUS_INVALID, "must be an object, not %s",
                       json_type_name(value.type));
    envelope->context = value.text;
    return STATUS_OK;
}

static enum status set_key(void *into, struct json value, struct arena *arena, struct err *err) {
    struct envelope *envelope = &((struct draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 1, PUSH_KEY_MAX, arena, &envelope->key, err);
}

static enum status set_headers(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct envelope *envelope = &((struct draft *)into)->held->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_headers(value, arena, &envelope->headers, &envelope->header_count, err);
}

/* ---- setters: its attempts ---- */

static enum status set_attempts(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    (void)arena;
    return failure_number(value, 1, REPORT_ATTEMPTS_MAX, &((struct draft *)into)->attempts, err);
}

static enum status set_max_attempts(void *into, struct json value, struct arena *arena,
                                    struct err *err) {
    (void)arena;
    return failure_number(value, 1, REPORT_ATTEMPTS_MAX, &((struct draft *)into)->max_attempts,
                          err);
}

/* A clock that is ahead of ours does not put a failure into the future. */
static enum status set_last_attempted_at(void *into, struct json value, struct arena *arena,
                                         struct err *err) {
    struct draft *draft = into;
    struct bytes text;
    struct wall at;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_string(value, arena, &text) || !wall_parse(text, &at) || at.ms <= 0)
        return err_set(err, STATUS_INVALID, "must be a time such as \"2026-01-31T12:00:00Z\"");
    draft->outcome->failed_at = at.ms < draft->now.ms ? at : draft->now;
    return STATUS_OK;
}

/* Some names have an alias, as other programs call the same. */
static const struct member members[] = {
    {"task_id", set_task_id},
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
    {"last_attempted_at", set_last_attempted_at},
    {"consumer_instance", set_instance},
    {"context", set_context},
    {"status", set_status},
    {"retry_after", set_retry_after},
    {"verdict", set_verdict},
    {"key", set_key},
    {"headers", set_headers},
};

static void fill_in(struct draft *draft, struct bytes queue) {
    struct store_held *held = draft->held;
    struct envelope *envelope = &held->envelope;
    if (!draft->has_payload)
        held->body = BYTES("null");
    envelope->queue = arena_dup(&held->arena, queue);
    envelope->content_type = BYTES("application/json");
    envelope->size = held->body.len;
    envelope->source = BYTES("{\"kind\":\"report\"}");
    envelope->created_at = draft->now;
    envelope->attempts = (uint32_t)draft->attempts;
    envelope->max_attempts = (uint32_t)draft->max_attempts;
    envelope->retry_after_ms = -1;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)held->body.ptr, held->body.len);
    sodium_bin2hex(envelope->content_hash, sizeof envelope->content_hash, hash, sizeof hash);
}

enum status report_parse(struct json object, struct bytes queue, struct wall now,
                         struct store_held *held, struct outcome *outcome, struct err *err) {
    /* The request's own memory ends before the engine is done with the message. */
    object.text = arena_dup(&held->arena, object.text);
    *outcome =
        (struct outcome){.ending = ENDING_FAILED, .kind = KIND_REPORTED, .retry_after_ms = -1};
    struct draft draft = {.held = held, .outcome = outcome, .now = now, .attempts = 1};
    if (member_read(members, sizeof members / sizeof *members, object, &draft, &held->arena, err) !=
        STATUS_OK)
        return STATUS_INVALID;
    if (!held->envelope.id.ptr)
        return err_set(err, STATUS_INVALID, "\"task_id\" is missing");
    fill_in(&draft, queue);
    return STATUS_OK;
}
