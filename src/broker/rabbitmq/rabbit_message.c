#include "broker/rabbitmq/rabbit_message.h"

#include "base/text/content.h"
#include "base/text/uuid.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_properties.h"
#include "broker/rabbitmq/rabbit_table.h"
#include "core/comeback.h"

enum {
    SOURCE_MAX = 16 * RABBIT_FRAME_MAX, /* bytes; base64 and JSON of what came in one frame */
};

static bool is_id(struct bytes text) {
    return text.len > 0 && text.len <= URL_ID_MAX && bytes_is_printable(text);
}

/* A message without an id of its own is another message in each delivery. */
static struct bytes new_id(const struct rabbit_origin *origin, struct wall now,
                           struct arena *arena) {
    char text[UUID_TEXT_SIZE];
    uuid_v7(now, origin->rng, text);
    return arena_dup(arena, bytes_of(text));
}

/* The producer's id. A letter that returns here has that too, and is another message in each round.
 */
static struct bytes named_id(struct bytes name, const struct envelope *envelope,
                             struct arena *arena) {
    struct comeback comeback;
    char text[URL_ID_MAX + 1];
    struct buf id;
    buf_init_fixed(&id, text, sizeof text);
    if (comeback_read(envelope->headers, envelope->header_count, &comeback))
        buf_printf(&id, "%.*s/%.*s:%u", BYTES_ARG(name), BYTES_ARG(comeback.letter),
                   (unsigned)comeback.replays);
    return arena_dup(arena, id.len > 0 && !id.overflow ? buf_view(&id) : name);
}

static void put_text(struct json_out *out, const char *key, struct bytes text) {
    json_key(out, key);
    json_put(out, text.ptr ? text : BYTES(""));
}

static struct bytes source_of(const amqp_envelope_t *incoming, const struct rabbit_origin *origin,
                              struct bytes properties, const amqp_field_value_t *deaths,
                              struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    put_text(&out, "kind", BYTES("rabbitmq"));
    put_text(&out, "vhost", origin->vhost);
    put_text(&out, "queue", origin->queue);
    put_text(&out, "exchange", rabbit_text(incoming->exchange));
    put_text(&out, "routing_key", rabbit_text(incoming->routing_key));
    json_key(&out, "redelivered");
    json_put_bool(&out, incoming->redelivered);
    if (deaths) {
        json_key(&out, "deaths");
        rabbit_table_json(deaths, &out);
    }
    json_key(&out, "properties");
    json_put_base64(&out, properties);
    json_close(&out, '}');
    struct bytes source = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return source;
}

static uint32_t deliveries_of(const amqp_table_t *headers) {
    int64_t count;
    const amqp_field_value_t *value = rabbit_table_find(headers, "x-delivery-count");
    if (!value || !rabbit_table_number(value, &count) || count < 0 || count >= UINT32_MAX)
        return 0;
    return (uint32_t)count + 1;
}

static void read_envelope(const amqp_envelope_t *incoming, const amqp_table_t *headers,
                          struct wall now, struct message *held) {
    const amqp_basic_properties_t *properties = &incoming->message.properties;
    struct envelope *envelope = &held->envelope;
    struct rule_header *texts = arena_alloc(&held->arena, ENVELOPE_HEADERS_MAX * sizeof *texts);
    envelope->header_count =
        rabbit_properties_texts(properties, &held->arena, texts, ENVELOPE_HEADERS_MAX);
    envelope->headers = texts;
    envelope->retry_after_ms = -1;
    envelope->content_type = properties->_flags & AMQP_BASIC_CONTENT_TYPE_FLAG
                                 ? arena_dup(&held->arena, rabbit_text(properties->content_type))
                                 : content_looks(held->body);
    const amqp_field_value_t *key = rabbit_table_find(headers, RABBIT_PROPERTIES_KEY);
    if (key && key->kind == AMQP_FIELD_KIND_UTF8)
        envelope->key = arena_dup(&held->arena, rabbit_text(key->value.bytes));
    /* Without a timestamp the time of creation is the time of receipt. */
    if ((properties->_flags & AMQP_BASIC_TIMESTAMP_FLAG) && properties->timestamp > 0 &&
        properties->timestamp <= (uint64_t)now.ms / 1000)
        envelope->created_at = (struct wall){(int64_t)properties->timestamp * 1000};
    envelope->size = held->body.len;
}

struct delivery *rabbit_message_read(const amqp_envelope_t *incoming,
                                     const struct rabbit_origin *origin, struct wall now) {
    const amqp_basic_properties_t *properties = &incoming->message.properties;
    bool has_headers = (properties->_flags & AMQP_BASIC_HEADERS_FLAG) != 0;
    amqp_table_t headers = has_headers ? properties->headers : amqp_empty_table;
    struct message *held = message_new();
    held->body = arena_dup(&held->arena, rabbit_text(incoming->message.body));
    read_envelope(incoming, &headers, now, held);
    struct bytes kept = rabbit_properties_encode(properties, &held->arena);
    held->envelope.source =
        source_of(incoming, origin, kept, rabbit_table_find(&headers, "x-death"), &held->arena);
    struct bytes name = properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG
                            ? rabbit_text(properties->message_id)
                            : BYTES_NONE;
    if (!is_id(name))
        name = url_find_id(origin->id_path, held->body, &held->arena);
    held->envelope.id = name.len > 0 ? named_id(name, &held->envelope, &held->arena)
                                     : new_id(origin, now, &held->arena);
    held->redelivered = incoming->redelivered;
    held->deliveries = deliveries_of(&headers);
    struct delivery *delivery = delivery_new(held);
    delivery->tag = incoming->delivery_tag;
    /* A queue that counts deliveries counts returned messages too. */
    delivery->keep = held->deliveries > 0;
    return delivery;
}
