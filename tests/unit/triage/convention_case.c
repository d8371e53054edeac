#include "convention_case.h"

#include <stdio.h>

#include "broker/registry.h"

static struct wall at(const char *text) {
    struct wall wall = WALL_NEVER;
    if (text)
        assert_true(wall_parse(bytes_of(text), &wall));
    return wall;
}

static const char * or (const char *text, const char *otherwise) {
    return text ? text : otherwise;
}

static struct message *give(const struct convention_case *row) {
    struct message *held = message_new();
    struct envelope *envelope = &held->envelope;
    envelope->id = BYTES("given");
    envelope->state = STATE_QUEUED;
    envelope->retry_after_ms = -1;
    envelope->source = bytes_of(row->source);
    envelope->headers = row->headers;
    while (envelope->header_count < CASE_HEADERS_MAX &&
           row->headers[envelope->header_count].name.ptr)
        envelope->header_count++;
    envelope->key = row->key;
    envelope->content_type = BYTES("application/x-given");
    envelope->created_at = at(row->written);
    held->delivery = bytes_of(or (row->delivery, ""));
    held->body = row->body.ptr ? row->body : BYTES("the body");
    return held; /* without a size, which not every broker says */
}

static void same_bytes(struct bytes actual, struct bytes expected) {
    assert_int_equal(actual.len, expected.len);
    assert_true(bytes_eq(actual, expected));
}

static void same_text(struct bytes actual, const char *expected) {
    if (actual.len != strlen(or (expected, "")) || !bytes_is(actual, or (expected, "")))
        fail_msg("\"%.*s\" is not \"%s\"", BYTES_ARG(actual), or (expected, ""));
}

static void check_failure(const struct convention_case *row, const struct envelope *envelope) {
    same_text(envelope->reason, row->reason);
    same_text(envelope->category, row->category);
    assert_true(envelope->failed);
    assert_int_equal(envelope->kind, KIND_REPORTED);
    same_text(envelope->error_type, row->type);
    same_text(envelope->error_message, row->message);
    same_text(envelope->stack_trace, row->trace);
    assert_int_equal(envelope->attempts, row->attempts);
    assert_int_equal(envelope->max_attempts, row->max_attempts);
}

/* created_at is the earliest of all times that the case names. */
static struct wall earliest(const struct convention_case *row) {
    const char *const known[] = {row->written, row->first, row->last, row->dead};
    struct wall found = at(CASE_NOW);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] && at(known[i]).ms < found.ms)
            found = at(known[i]);
    return found;
}

static void check_times(const struct convention_case *row, const struct envelope *envelope) {
    const char *last = or (row->last, or (row->written, CASE_NOW));
    assert_int_equal(envelope->created_at.ms,
                     row->created ? at(row->created).ms : earliest(row).ms);
    assert_int_equal(envelope->first_failure_at.ms, at(or (row->first, last)).ms);
    assert_int_equal(envelope->last_failure_at.ms, at(last).ms);
    assert_int_equal(envelope->dead_at.ms, at(or (row->dead, last)).ms);
    assert_int_equal(envelope->next_attempt_at.ms, at(row->retry_at).ms);
}

static void check_message(const struct convention_case *row, const struct message *held) {
    const struct envelope *envelope = &held->envelope;
    struct bytes given = row->body.ptr ? row->body : BYTES("the body");
    same_bytes(held->body, row->body_after.ptr ? row->body_after : given);
    assert_int_equal(envelope->size, held->body.len);
    same_bytes(envelope->key, row->key_after.ptr ? row->key_after : row->key);
    same_text(envelope->content_type, or (row->content_type, "application/x-given"));
    size_t given_count = 0;
    for (; given_count < CASE_HEADERS_MAX && row->headers[given_count].name.ptr; given_count++) {
        same_bytes(envelope->headers[given_count].name, row->headers[given_count].name);
        same_bytes(envelope->headers[given_count].value, row->headers[given_count].value);
    }
    if (!row->added) {
        assert_int_equal(envelope->header_count, given_count);
        return;
    }
    char added[128];
    const struct rule_header *last = &envelope->headers[envelope->header_count - 1];
    assert_true(envelope->header_count > given_count);
    snprintf(added, sizeof added, "%.*s=%.*s", BYTES_ARG(last->name), BYTES_ARG(last->value));
    assert_string_equal(added, row->added);
}

/* The source as it was stands in the context, without AMQP's properties. */
static void check_context(const struct convention_case *row, const struct envelope *envelope) {
    char context[4096];
    char source[2048];
    snprintf(source, sizeof source, "%s", row->source);
    char *properties = strstr(source, ",\"properties\"");
    if (properties)
        strcpy(properties, "}");
    snprintf(context, sizeof context,
             "{\"adopted\":{\"convention\":\"%s\",\"from\":\"" CASE_ENTRY "\",\"at\":%s}%s}",
             row->name, source, or (row->beside, ""));
    same_text(envelope->context, context);
}

static void check_history(const struct convention_case *row, const struct envelope *envelope) {
    char text[1024] = "";
    size_t len = 0;
    for (size_t i = 0; i < envelope->history_count; i++) {
        const struct envelope_note *note = &envelope->history[i];
        assert_true(note->counted);
        assert_int_equal(note->at.ms, WALL_NEVER.ms);
        assert_int_equal(note->delay_ms, -1);
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "%u %s %.*s %.*s %.*s\n", note->attempt,
                             verdict_text(note->verdict), BYTES_ARG(note->category),
                             BYTES_ARG(note->error_type), BYTES_ARG(note->error_message));
        assert_true(len < sizeof text);
    }
    assert_string_equal(text, or (row->history, ""));
}

static void check(const struct convention_case *row) {
    char task[128];
    struct message *held = give(row);
    struct envelope *envelope = &held->envelope;
    const struct convention *found = convention_find(held);
    assert_string_equal(convention_name(found), row->name);
    convention_read(found, registry_kinds, BYTES(CASE_ENTRY), at(CASE_NOW), held);
    assert_int_equal(envelope->state, row->state ? row->state : STATE_PENDING_REVIEW);
    assert_int_equal(envelope->resolved_at.ms, at(row->resolved).ms);
    assert_int_equal(envelope->resolution,
                     row->state == STATE_RESOLVED ? RESOLUTION_BY_HAND : RESOLUTION_NONE);
    assert_int_equal(envelope->cause, CAUSE_ADOPTED);
    same_text(envelope->queue, row->queue);
    same_text(envelope->source, row->origin);
    same_text(envelope->id, or (row->id, "given"));
    snprintf(task, sizeof task, "%.*s/%.*s", BYTES_ARG(envelope->task_id),
             BYTES_ARG(envelope->task_type));
    assert_string_equal(task, or (row->task, "/"));
    same_text(envelope->instance, row->instance);
    same_text(envelope->why, row->why);
    check_failure(row, envelope);
    check_times(row, envelope);
    check_message(row, held);
    check_context(row, envelope);
    check_history(row, envelope);
    message_free(held);
}

void convention_case_check(const struct convention_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        check(&cases[i]);
}
