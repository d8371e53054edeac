/* format_generic: generic dead-letter formats: headers `dlq-*` (which impound's own mirror
 * writes, too), and JSON around or inside the body. */
#include "triage/adopt/formats/convention_facts.h"
#include "triage/adopt/formats/convention_without.h"

/* ---- headers ---- */

static const struct convention_field mirror_fields[] = {
    LAST("dlq-original-topic", FACT_PLACE, AS_TEXT),
    LAST("dlq-original-partition", FACT_PARTITION, AS_DECIMAL),
    LAST("dlq-original-offset", FACT_OFFSET, AS_DECIMAL),
    LAST("dlq-error-class", FACT_TYPE, AS_TEXT),
    LAST("dlq-error-msg", FACT_MESSAGE, AS_TEXT),
    LAST("dlq-attempts", FACT_ATTEMPTS, AS_DECIMAL),
    LAST("dlq-failed-at", FACT_LAST_FAILURE_AT, AS_EPOCH),
    LAST("dlq-category", FACT_CATEGORY, AS_TEXT),
    LAST("dlq-reason", FACT_REASON, AS_TEXT),
    LAST("dlq-message-id", FACT_ID, AS_TEXT),
    LAST_BESIDE("dlq-cause", "cause"),
    LAST_BESIDE("dlq-letter-id", "letter"),
};

static const struct convention_field header_fields[] = {
    LAST("original-topic", FACT_PLACE, AS_TEXT),
    LAST("original-topic", FACT_TOPIC, AS_TEXT),
    LAST("original-queue", FACT_QUEUE, AS_TEXT),
    LAST("original-queue", FACT_PLACE, AS_TEXT),
    LAST("failure-reason", FACT_FAILURE, AS_TEXT),
    LAST("retry-count", FACT_RETRIES, AS_DECIMAL),
    LAST("failure-timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
};

/* A record may name both a topic and the queue in which it waited. A broker with topics gets it
 * back by topic, every other one by queue; the topic then stays in the source beside partition and
 * offset. */
static void read_queue(struct convention_facts *facts) {
    struct bytes queue = convention_facts_get(facts, FACT_QUEUE);
    const struct broker_kind *broker = facts->letter->broker;
    bool by_topic = broker && bytes_is(BYTES("topic"), broker->coordinates[0].member);
    if (queue.len > 0 && !by_topic)
        convention_facts_replace(facts, FACT_PLACE, queue);
    else
        facts->facts[FACT_TOPIC].known = false;
}

static const struct convention_field attribute_fields[] = {
    LAST("original_queue", FACT_PLACE, AS_TEXT),
    LAST("failure_reason", FACT_FAILURE, AS_TEXT),
    LAST("retry_count", FACT_RETRIES, AS_DECIMAL),
    LAST("failure_timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
};

/* ---- two members inside the body ---- */

static const struct convention_field list_fields[] = {
    FIELD(".dlq_at", FACT_LAST_FAILURE_AT, AS_EPOCH),
    FIELD(".dlq_reason", FACT_REASON, AS_TEXT),
    FIELD(".id", FACT_ID, AS_TEXT),
};

/* "REASON", "REASON:detail", "unknown:TYPE", each also behind "max_attempts:". The detail is free
 * text and not part of the reason. */
static void split_reason(struct convention_facts *facts) {
    struct bytes prefix = BYTES("max_attempts:");
    struct bytes whole = convention_facts_get(facts, FACT_REASON);
    size_t from = bytes_starts(whole, prefix) ? prefix.len : 0;
    struct bytes rest = bytes_cut(whole, from, whole.len);
    size_t colon = bytes_find(rest, BYTES(":"));
    struct bytes detail = bytes_cut(rest, colon + 1, rest.len);
    convention_facts_replace(facts, FACT_REASON, bytes_cut(whole, 0, from + colon));
    if (bytes_is(bytes_cut(rest, 0, colon), "unknown"))
        convention_facts_text(facts, FACT_TYPE, detail);
    else
        convention_facts_text(facts, FACT_MESSAGE, detail);
}

/* The origin of the list X:dlq is the list X:main. */
static void place_beside(struct convention_facts *facts) {
    struct json list;
    struct bytes name, suffix = BYTES(":dlq");
    if (!json_get(facts->letter->source, "list", &list) ||
        !json_string(list, facts->arena, &name) || !bytes_ends(name, suffix))
        return;
    struct buf place;
    buf_init_heap(&place, name.len + sizeof ":main");
    buf_bytes(&place, bytes_cut(name, 0, name.len - suffix.len));
    buf_str(&place, ":main");
    convention_facts_text(facts, FACT_PLACE, arena_dup(facts->arena, buf_view(&place)));
    buf_free(&place);
}

static void read_list(struct convention_facts *facts) {
    static const char *const added[] = {"dlq_reason", "dlq_at", NULL};
    split_reason(facts);
    place_beside(facts);
    convention_facts_text(facts, FACT_BODY,
                          convention_without(facts->letter->body, added, facts->arena));
}

/* ---- JSON around the body ---- */

static const struct convention_field envelope_fields[] = {
    FIELD(".dlq_envelope.message_id", FACT_ID, AS_TEXT),
    FIELD(".dlq_envelope.original_topic", FACT_PLACE, AS_TEXT),
    FIELD(".dlq_envelope.original_topic", FACT_TOPIC, AS_TEXT),
    FIELD(".dlq_envelope.original_queue", FACT_QUEUE, AS_TEXT),
    FIELD(".dlq_envelope.original_queue", FACT_PLACE, AS_TEXT),
    FIELD(".dlq_envelope.original_partition", FACT_PARTITION, AS_DECIMAL),
    FIELD(".dlq_envelope.original_offset", FACT_OFFSET, AS_DECIMAL),
    FIELD(".dlq_envelope.failure_reason", FACT_FAILURE, AS_TEXT),
    FIELD(".dlq_envelope.failure_category", FACT_CATEGORY, AS_LOWER),
    FIELD(".dlq_envelope.stack_trace", FACT_TRACE, AS_TEXT),
    FIELD(".dlq_envelope.retry_count", FACT_RETRIES, AS_DECIMAL),
    FIELD(".dlq_envelope.first_failure_at", FACT_FIRST_FAILURE_AT, AS_RFC3339),
    FIELD(".dlq_envelope.last_failure_at", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD(".dlq_envelope.consumer_instance", FACT_INSTANCE, AS_TEXT),
    FIELD(".dlq_envelope.consumer_version", FACT_VERSION, AS_TEXT),
    FIELD(".original_headers", FACT_HEADERS, AS_JSON),
    FIELD(".original_body", FACT_BODY, AS_TEXT),
};

static const struct convention_field metadata_fields[] = {
    FIELD(".dlq_metadata.original_queue", FACT_PLACE, AS_TEXT),
    FIELD(".dlq_metadata.failure_reason", FACT_FAILURE, AS_TEXT),
    FIELD(".dlq_metadata.failure_timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD(".dlq_metadata.retry_count", FACT_RETRIES, AS_DECIMAL),
    FIELD(".dlq_metadata.stack_trace", FACT_TRACE, AS_TEXT),
    FIELD(".original_message.headers", FACT_HEADERS, AS_JSON),
    FIELD(".original_message.body", FACT_BODY, AS_TEXT),
};

static const struct convention_field task_fields[] = {
    FIELD(".task_id", FACT_ID, AS_TEXT),
    FIELD(".task_id", FACT_TASK_ID, AS_TEXT),
    FIELD(".task_type", FACT_TASK_TYPE, AS_TEXT),
    FIELD(".error_type", FACT_TYPE, AS_TEXT),
    FIELD(".error_message", FACT_MESSAGE, AS_TEXT),
    FIELD(".stack_trace", FACT_TRACE, AS_TEXT),
    FIELD(".attempt_count", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD(".max_retries", FACT_ATTEMPTS_MAX, AS_DECIMAL),
    FIELD(".created_at", FACT_FIRST_FAILURE_AT, AS_RFC3339),
    FIELD(".last_attempted_at", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD(".resolved_at", FACT_RESOLVED_AT, AS_RFC3339),
    FIELD(".created_at", FACT_LAST_FAILURE_AT, AS_RFC3339),
    BESIDE(".status", "status"),
    BESIDE(".id", "entry"),
    BESIDE(".context", "task_context"),
    FIELD(".payload", FACT_BODY, AS_TEXT),
};

/* A record that is resolved or discarded in its own system must not be retried here. A scheduled
 * retry has no time in this format, so it is due at once. */
static void read_task(struct convention_facts *facts) {
    static const char *const retried[] = {"pending_retry", "retrying", NULL};
    struct json member;
    struct bytes status;
    if (!json_get(facts->letter->body, "status", &member) ||
        !json_string(member, facts->arena, &status))
        return;
    if (bytes_is(status, "resolved"))
        facts->state = STATE_RESOLVED;
    if (bytes_is(status, "discarded"))
        facts->state = STATE_DISCARDED;
    for (size_t i = 0; retried[i]; i++)
        if (bytes_is(status, retried[i])) {
            facts->awaits_retry = true;
            convention_facts_time(facts, FACT_RETRY_AT, facts->facts[FACT_LAST_FAILURE_AT].number);
        }
}

static const struct convention_field history_fields[] = {
    FIELD(".id", FACT_ID, AS_TEXT),
    FIELD(".attempts", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD(".payload", FACT_BODY, AS_TEXT),
};

/* The last failure is the last of the list. */
static void read_history(struct convention_facts *facts) {
    struct json history, member, last = {.type = JSON_NULL};
    struct bytes text;
    if (json_get(facts->letter->body, "history", &history))
        for (struct json_walk walk = json_walk(history); json_step(&walk);)
            last = walk.value;
    if (last.type != JSON_OBJECT)
        return;
    if (json_get(last, "err", &member) && json_string(member, facts->arena, &text))
        convention_facts_text(facts, FACT_TYPE, text);
    if (json_get(last, "msg", &member) && json_string(member, facts->arena, &text))
        convention_facts_text(facts, FACT_MESSAGE, text);
}

/* ---- rows ---- */

static const struct convention rows[] = {
    {.name = "dlq-headers",
     .mirror = true,
     .prefixes = {"dlq-original-", "dlq-error-", "dlq-reason"},
     CONVENTION_FIELDS(mirror_fields)},
    {.name = "failure-headers",
     .members = {"failure-reason", "retry-count"},
     CONVENTION_FIELDS(header_fields),
     .read = read_queue},
    {.name = "failure-attributes",
     .members = {"failure_reason", "retry_count"},
     CONVENTION_FIELDS(attribute_fields)},
    {.name = "dlq-list",
     .where = IN_JSON,
     .members = {".dlq_reason", ".dlq_at"},
     CONVENTION_FIELDS(list_fields),
     .read = read_list},
    {.name = "dlq-envelope",
     .where = IN_JSON,
     .members = {".dlq_envelope", ".original_body"},
     CONVENTION_FIELDS(envelope_fields),
     .read = read_queue},
    {.name = "dlq-metadata",
     .where = IN_JSON,
     .members = {".dlq_metadata", ".original_message.body"},
     CONVENTION_FIELDS(metadata_fields)},
    {.name = "dlq-task",
     .where = IN_JSON,
     .members = {".task_id", ".task_type", ".payload", ".error_type", ".attempt_count"},
     CONVENTION_FIELDS(task_fields),
     .read = read_task},
    {.name = "dlq-history",
     .where = IN_JSON,
     .members = {".id", ".payload", ".attempts", ".history[0].err"},
     CONVENTION_FIELDS(history_fields),
     .history = true,
     .read = read_history},
};

const struct convention_family format_generic = {rows, sizeof rows / sizeof *rows};
