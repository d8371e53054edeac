/* format_protobuf: dead letters in protobuf. asynq's tasks in Redis are whole protobuf
 * messages; uForwarder's records in Kafka have one as their key, with the original key in it, and
 * the original body. */
#include <convention.pb-c.h>

#include "triage/adopt/formats/convention_facts.h"

enum {
    HEADERS_MAX = 64 << 20,
    TASK_MAX = 64 << 20, /* bytes of a task without its payload, as JSON */
    TOPIC_MAX = 249,     /* bytes of a topic's name */
    NS_PER_MS = 1000000,
};

/* ---- asynq ---- */

static Convention__TaskMessage *unpack_task(struct bytes body) {
    return convention__task_message__unpack(NULL, body.len, (const uint8_t *)body.ptr);
}

/* Its place in Redis is all that distinguishes a task from other bytes. */
static bool is_asynq(const struct convention_letter *letter) {
    struct json name;
    if (!json_get(letter->source, "asynq", &name))
        return false;
    Convention__TaskMessage *task = unpack_task(letter->held->body);
    bool fits = task && task->type[0] && task->id[0];
    if (task)
        convention__task_message__free_unpacked(task, NULL);
    return fits;
}

static struct bytes kept(struct convention_facts *facts, const char *text) {
    return arena_dup(facts->arena, bytes_of(text));
}

static struct bytes headers_of(const Convention__TaskMessage *task, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, HEADERS_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    for (size_t i = 0; i < task->n_headers; i++) {
        json_key(&out, task->headers[i]->key);
        json_put_str(&out, task->headers[i]->value);
    }
    json_close(&out, '}');
    struct bytes headers = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return headers;
}

/* The task as it was before its first failure: with its retry counter it would die at the next
 * failure. The payload is the letter's body, which people may edit. */
static struct bytes pack_without_payload(Convention__TaskMessage *task, struct arena *arena) {
    static char empty[] = "";
    Convention__TaskMessage bare = *task;
    bare.payload = (ProtobufCBinaryData){0, NULL};
    bare.retried = 0;
    bare.error_msg = empty;
    bare.last_failed_at = bare.completed_at = 0;
    size_t size = convention__task_message__get_packed_size(&bare);
    char *packed = arena_alloc(arena, size + 1);
    convention__task_message__pack(&bare, (uint8_t *)packed);
    return (struct bytes){packed, size};
}

/* The form that redis_entry.h reads. */
static struct bytes origin_of(Convention__TaskMessage *task, struct json queue,
                              struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, TASK_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_key(&out, "kind");
    json_put_str(&out, "redis");
    json_key(&out, "asynq");
    json_put_raw(&out, queue.text);
    json_key(&out, "id");
    json_put_str(&out, task->id);
    json_key(&out, "task");
    json_put_base64(&out, pack_without_payload(task, arena));
    json_close(&out, '}');
    struct bytes origin = text.overflow ? BYTES_NONE : arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return origin;
}

static void read_asynq(struct convention_facts *facts) {
    struct json queue;
    Convention__TaskMessage *task = unpack_task(facts->letter->held->body);
    if (!task)
        return;
    convention_facts_text(facts, FACT_ID, kept(facts, task->id));
    convention_facts_text(facts, FACT_TASK_ID, kept(facts, task->id));
    convention_facts_text(facts, FACT_TASK_TYPE, kept(facts, task->type));
    convention_facts_text(facts, FACT_QUEUE, kept(facts, task->queue));
    convention_facts_text(facts, FACT_MESSAGE, kept(facts, task->error_msg));
    convention_facts_number(facts, FACT_RETRIES, task->retried);
    convention_facts_number(facts, FACT_RETRIES_MAX, task->retry);
    if (task->last_failed_at > 0 && task->last_failed_at < INT64_MAX / 1000)
        convention_facts_time(facts, FACT_LAST_FAILURE_AT, task->last_failed_at * 1000);
    if (json_get(facts->letter->source, "asynq", &queue))
        convention_facts_text(facts, FACT_ORIGIN, origin_of(task, queue, facts->arena));
    convention_facts_beside(facts, "group", kept(facts, task->group_key));
    convention_facts_beside(facts, "unique_key", kept(facts, task->unique_key));
    if (task->n_headers > 0)
        convention_facts_text(facts, FACT_HEADERS, headers_of(task, facts->arena));
    struct bytes payload = {task->payload.len ? (const char *)task->payload.data : "",
                            task->payload.len};
    convention_facts_replace(facts, FACT_BODY, arena_dup(facts->arena, payload));
    convention__task_message__free_unpacked(task, NULL);
}

/* ---- uForwarder ---- */

static Convention__DlqMetadata *unpack_metadata(const struct message *held) {
    struct bytes key = held->envelope.key;
    return key.len ? convention__dlq_metadata__unpack(NULL, key.len, (const uint8_t *)key.ptr)
                   : NULL;
}

static bool is_topic(struct bytes name) {
    static const char marks[] = "._-";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && c != marks[0] && c != marks[1] && c != marks[2])
            return false;
    }
    return name.len > 0 && name.len <= TOPIC_MAX;
}

/* Few keys are a valid message by chance, and hardly any of these name a topic. */
static bool is_uforwarder(const struct convention_letter *letter) {
    Convention__DlqMetadata *metadata = unpack_metadata(letter->held);
    bool fits = metadata && metadata->base.n_unknown_fields == 0 &&
                is_topic(bytes_of(metadata->topic)) && metadata->partition >= 0 &&
                metadata->offset >= 0 && metadata->retry_count >= 0;
    if (metadata)
        convention__dlq_metadata__free_unpacked(metadata, NULL);
    return fits;
}

static void read_uforwarder(struct convention_facts *facts) {
    Convention__DlqMetadata *metadata = unpack_metadata(facts->letter->held);
    if (!metadata)
        return;
    struct bytes key = {(const char *)metadata->data.data, metadata->data.len};
    convention_facts_text(facts, FACT_PLACE, kept(facts, metadata->topic));
    convention_facts_number(facts, FACT_PARTITION, metadata->partition);
    convention_facts_number(facts, FACT_OFFSET, metadata->offset);
    convention_facts_number(facts, FACT_RETRIES, metadata->retry_count);
    convention_facts_time(facts, FACT_CREATED_AT, metadata->timestamp_ns / NS_PER_MS);
    if (metadata->timeout_count > 0)
        convention_facts_text(facts, FACT_REASON, BYTES("timeout"));
    convention_facts_replace(facts, FACT_KEY, key.len ? arena_dup(facts->arena, key) : BYTES_NONE);
    convention__dlq_metadata__free_unpacked(metadata, NULL);
}

/* ---- rows ---- */

static const struct convention rows[] = {
    {.name = "asynq", .kind = "redis", .fits = is_asynq, .read = read_asynq},
    {.name = "uforwarder", .kind = "kafka", .fits = is_uforwarder, .read = read_uforwarder},
};

const struct convention_family format_protobuf = {rows, sizeof rows / sizeof *rows};
