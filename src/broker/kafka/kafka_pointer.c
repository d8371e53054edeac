#include "broker/kafka/kafka_pointer.h"

#include <assert.h>
#include <string.h>

enum {
    SOURCE_MAX = 64 * 1024,
    CLOCKS_MS = 5000, /* tolerated difference between the clocks of brokers and producers */
};

/* As kafka_message.c ends the source of a record without a value. */
static const struct bytes tombstone = {",\"tombstone\":true}", 18};

/* ---- reading ---- */

/* The first of that name: the pointer's own. */
static struct bytes header(const struct envelope *envelope, const char *name) {
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_eq_nocase(envelope->headers[i].name, bytes_of(name)))
            return envelope->headers[i].value;
    return BYTES_NONE;
}

static bool read_number(const struct envelope *envelope, const char *name, uint64_t most,
                        uint64_t *out) {
    return bytes_u64(header(envelope, name), out) && *out <= most;
}

/* A name that Kafka refuses would be asked for again and again. */
static bool is_topic(struct bytes text) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (text.len == 0 || text.len > KAFKA_POINTER_TOPIC_MAX || bytes_is(text, ".") ||
        bytes_is(text, ".."))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(letters, text.ptr[i], sizeof letters - 1))
            return false;
    return true;
}

bool kafka_pointer_read(const struct message *held, struct kafka_pointer *out) {
    const struct envelope *envelope = &held->envelope;
    uint64_t partition, offset;
    if (held->body.len > 0 || envelope->key.ptr || !bytes_ends(envelope->source, tombstone))
        return false;
    struct bytes topic = header(envelope, "__dlq.errors.topic");
    if (!is_topic(topic) ||
        !read_number(envelope, "__dlq.errors.partition", INT32_MAX, &partition) ||
        !read_number(envelope, "__dlq.errors.offset", INT64_MAX, &offset))
        return false;
    *out = (struct kafka_pointer){.partition = (int32_t)partition, .offset = (int64_t)offset};
    memcpy(out->topic, topic.ptr, topic.len);
    return true;
}

bool kafka_pointer_same_partition(const struct kafka_pointer *one,
                                  const struct kafka_pointer *other) {
    return one->partition == other->partition && strcmp(one->topic, other->topic) == 0;
}

/* ---- following ---- */

/* The pointer's source with further members. */
static struct bytes lengthen_source(const struct envelope *pointer, struct bytes origin,
                                    struct arena *arena) {
    char at[INSTANT_TEXT_SIZE];
    struct bytes source = pointer->source;
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    buf_bytes(&text, bytes_cut(source, 0, source.len - tombstone.len));
    struct json_out out = {&text, true};
    if (pointer->created_at.ms > WALL_NEVER.ms) {
        json_key(&out, "dead_at");
        json_put_str(&out, wall_text(pointer->created_at, at));
    }
    json_key(&out, "origin");
    json_put_raw(&out, origin);
    json_close(&out, '}');
    source = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return source;
}

/* The record may have headers of the same names, from another death. */
static void put_headers_before(const struct envelope *pointer, struct message *record) {
    struct arena *arena = &record->arena;
    struct envelope *envelope = &record->envelope;
    size_t count = pointer->header_count;
    struct rule_header *headers =
        arena_alloc(arena, (count + envelope->header_count) * sizeof *headers);
    for (size_t i = 0; i < count; i++)
        headers[i] = (struct rule_header){arena_dup(arena, pointer->headers[i].name),
                                          arena_dup(arena, pointer->headers[i].value)};
    for (size_t i = 0; i < envelope->header_count; i++)
        headers[count + i] = envelope->headers[i];
    envelope->headers = headers;
    envelope->header_count += count;
}

/* In a topic that was recreated, another record has that offset. A broker writes a pointer after
 * its record died; the record's own time may be its producer's, whose clock may be ahead: that
 * alone does not make it gone. */
static bool is_younger(const struct envelope *record, const struct envelope *pointer) {
    return pointer->created_at.ms > WALL_NEVER.ms &&
           record->created_at.ms - CLOCKS_MS > pointer->created_at.ms;
}

/* The record's source, with the reason why it may be another record. */
static struct bytes doubt(const struct envelope *record, struct arena *arena) {
    char at[INSTANT_TEXT_SIZE];
    struct buf text, why;
    buf_init_heap(&text, SOURCE_MAX);
    buf_init_heap(&why, SOURCE_MAX);
    buf_printf(&why,
               "the record is from %s, later than the pointer to it: the topic was recreated "
               "since, or a clock is ahead",
               wall_text(record->created_at, at));
    buf_bytes(&text, bytes_cut(record->source, 0, record->source.len - 1));
    struct json_out out = {&text, true};
    json_key(&out, "why");
    json_put(&out, buf_view(&why));
    json_close(&out, '}');
    struct bytes source = arena_dup(arena, buf_view(&text));
    buf_free(&why);
    buf_free(&text);
    return source;
}

struct message *kafka_pointer_become(struct message *pointer_take, struct message *record_take) {
    const struct envelope *pointer = &pointer_take->envelope;
    struct envelope *record = &record_take->envelope;
    record->id = arena_dup(&record_take->arena, pointer->id);
    if (is_younger(record, pointer))
        record->source = doubt(record, &record_take->arena);
    record->source = lengthen_source(pointer, record->source, &record_take->arena);
    put_headers_before(pointer, record_take);
    message_free(pointer_take);
    return record_take;
}

void kafka_pointer_gone(struct message *pointer, const char *why) {
    struct kafka_pointer to;
    struct buf text;
    bool is = kafka_pointer_read(pointer, &to);
    assert(is);
    (void)is;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_key(&out, "kind");
    json_put_str(&out, "kafka");
    json_key(&out, "topic");
    json_put_str(&out, to.topic);
    json_key(&out, "partition");
    json_put_i64(&out, to.partition);
    json_key(&out, "offset");
    json_put_i64(&out, to.offset);
    json_key(&out, "gone");
    json_put_bool(&out, true);
    json_key(&out, "why");
    json_put_str(&out, why);
    json_close(&out, '}');
    pointer->envelope.source =
        lengthen_source(&pointer->envelope, buf_view(&text), &pointer->arena);
    buf_free(&text);
}
