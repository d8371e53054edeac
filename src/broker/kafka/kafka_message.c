#include "broker/kafka/kafka_message.h"

#include "base/json/json.h"
#include "base/text/content.h"

enum {
    OFFSET_MAX = 24,
    NULLS_MAX = 4096, /* of the names of headers without a value */
    AROUND_MAX = 256, /* of the texts around key and body: numbers, padding, the broker's mark */
};

/* Not NULL, also when it is empty. */
static struct bytes copy(struct arena *arena, const void *ptr, size_t len) {
    return arena_dup(arena, (struct bytes){len ? ptr : "", len});
}

void kafka_message_head(struct bytes topic, int32_t partition, struct kafka_head *out) {
    struct buf id, source;
    buf_init_fixed(&id, out->id, sizeof out->id);
    buf_init_fixed(&source, out->source, sizeof out->source);
    buf_printf(&id, "%.*s/%d/", BYTES_ARG(topic), partition);
    struct json_out json = json_out(&source);
    json_open(&json, '{');
    json_key(&json, "kind");
    json_put_str(&json, "kafka");
    json_key(&json, "topic");
    json_put(&json, topic);
    json_key(&json, "partition");
    json_put_i64(&json, partition);
    json_key(&json, "offset");
    out->id_len = id.len;
    out->source_len = source.len;
}

static struct bytes make_id(const struct kafka_head *head, struct bytes offset,
                            struct arena *arena) {
    return arena_join(arena, (struct bytes[]){{head->id, head->id_len}, offset}, 2);
}

static struct bytes make_source(const struct kafka_head *head, struct bytes offset,
                                struct bytes nulls, bool tombstone, struct arena *arena) {
    struct bytes end = tombstone ? BYTES(",\"tombstone\":true}") : BYTES("}");
    return arena_join(arena, (struct bytes[]){{head->source, head->source_len}, offset, nulls, end},
                      4);
}

/* Which of the headers have no value, as a member of the source; nothing when they are too many. */
static struct bytes name_nulls(rd_kafka_headers_t *headers, struct arena *arena) {
    const char *name;
    const void *value;
    size_t len;
    struct buf text;
    buf_init_heap(&text, NULLS_MAX);
    struct json_out json = {&text, true};
    json_key(&json, "null_headers");
    json_open(&json, '[');
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &len) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++)
        if (!value)
            json_put_str(&json, name);
    json_close(&json, ']');
    struct bytes nulls = text.overflow ? BYTES_NONE : arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return nulls;
}

/* Returns the member of the source that names them. */
static struct bytes copy_headers(const rd_kafka_message_t *record, struct message *held) {
    rd_kafka_headers_t *found;
    if (rd_kafka_message_headers(record, &found) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return BYTES_NONE;
    bool has_nulls = false;
    size_t count = rd_kafka_header_cnt(found);
    struct rule_header *headers = arena_alloc(&held->arena, count * sizeof *headers + 1);
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t len;
        rd_kafka_header_get_all(found, i, &name, &value, &len);
        headers[i].name = arena_dup(&held->arena, bytes_of(name));
        headers[i].value = copy(&held->arena, value, len);
        has_nulls = has_nulls || !value;
    }
    held->envelope.headers = headers;
    held->envelope.header_count = count;
    return has_nulls ? name_nulls(found, &held->arena) : BYTES_NONE;
}

/* As a header of the producer says (CloudEvents and others), else guessed from the body. */
static struct bytes content_type_of(const struct message *held) {
    const struct envelope *envelope = &held->envelope;
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_eq_nocase(envelope->headers[i].name, BYTES("content-type")) &&
            envelope->headers[i].value.len > 0 && bytes_is_utf8(envelope->headers[i].value))
            return envelope->headers[i].value;
    return content_looks(held->body);
}

struct message *kafka_message_new(const rd_kafka_message_t *record, const struct kafka_head *head,
                                  struct pool *pool) {
    struct message *held = message_new_in(pool, head->id_len + head->source_len + record->key_len +
                                                    record->len + AROUND_MAX);
    struct envelope *envelope = &held->envelope;
    char text[OFFSET_MAX];
    struct buf offset;
    rd_kafka_timestamp_type_t type;
    int64_t created_ms = rd_kafka_message_timestamp(record, &type);
    buf_init_fixed(&offset, text, sizeof text);
    buf_i64(&offset, record->offset);
    envelope->id = make_id(head, buf_view(&offset), &held->arena);
    struct bytes nulls = copy_headers(record, held);
    envelope->source = make_source(head, buf_view(&offset), nulls, !record->payload, &held->arena);
    if (record->key)
        envelope->key = copy(&held->arena, record->key, record->key_len);
    held->body = copy(&held->arena, record->payload, record->len);
    envelope->content_type = content_type_of(held);
    if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && created_ms > 0)
        envelope->created_at = (struct wall){created_ms};
    return held;
}

uint64_t kafka_message_print(const rd_kafka_message_t *record) {
    struct bytes body = {record->payload, record->len}, key = {record->key, record->key_len};
    uint64_t at = (uint64_t)rd_kafka_message_timestamp(record, NULL);
    return bytes_print(body) ^ (bytes_print(key) << 1) ^ (at * 0x9e3779b97f4a7c15u);
}
