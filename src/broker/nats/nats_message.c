#include "broker/nats/nats_message.h"

#include "base/text/content.h"
#include "broker/nats/stream/nats_ack.h"
#include "broker/nats/stream/nats_headers.h"
#include "broker/nats/stream/nats_coordinates.h"

enum { TEXT_MAX = 4096 };

/* ---- received ---- */

static void add_values(struct nats_headers *headers, natsMsg *message, const char *name) {
    const char **values = NULL;
    int count = 0;
    if (natsMsgHeader_Values(message, name, &values, &count) != NATS_OK)
        return;
    for (int i = 0; i < count; i++)
        nats_headers_add(headers, bytes_of(name), bytes_of(values[i]));
    free(values);
}

/* The name of the header with its content type. */
static struct bytes read_headers(natsMsg *message, struct message *held) {
    const char **names = NULL;
    int count = 0;
    struct nats_headers headers = nats_headers(held);
    if (natsMsgHeader_Keys(message, &names, &count) != NATS_OK)
        return BYTES_NONE;
    for (int i = 0; i < count; i++)
        add_values(&headers, message, names[i]);
    nats_headers_end(&headers);
    free(names);
    return headers.typed;
}

struct delivery *nats_message_read(natsMsg *message) {
    struct nats_ack ack;
    struct bytes reply = bytes_of(natsMsg_GetReply(message));
    if (!nats_ack_parse(reply, &ack))
        return NULL;
    struct message *held = message_new();
    struct envelope *envelope = &held->envelope;
    held->body = arena_dup(&held->arena, (struct bytes){natsMsg_GetData(message),
                                                        (size_t)natsMsg_GetDataLength(message)});
    struct bytes typed = read_headers(message, held);
    if (!envelope->content_type.ptr)
        envelope->content_type = content_looks(held->body);
    nats_coordinates_name(
        &(struct nats_coordinates){.stream = ack.stream,
                                   .consumer = ack.consumer,
                                   .subject = bytes_of(natsMsg_GetSubject(message)),
                                   .typed = typed,
                                   .sequence = ack.sequence,
                                   .delivered = ack.delivered},
        held);
    envelope->created_at = ack.stored_at;
    envelope->size = held->body.len;
    envelope->retry_after_ms = -1;
    held->redelivered = ack.delivered > 1;
    held->deliveries = ack.delivered < UINT32_MAX ? (uint32_t)ack.delivered : UINT32_MAX;
    struct delivery *delivery = delivery_new(held);
    delivery->reply = bytes_dup(reply);
    return delivery;
}

/* ---- to publish ---- */

/* Nats-Msg-Id is the item's stamp; the others would make the server refuse, delay or drop it. */
static bool means_something_to_the_server(struct bytes name) {
    static const struct bytes prefixes[] = {{"Nats-Msg-Id", 11},   {"Nats-Expected-", 14},
                                            {"Nats-Schedule", 13}, {"Nats-Batch-", 11},
                                            {"Nats-Rollup", 11},   {"Nats-TTL", 8}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (name.len >= prefixes[i].len &&
            bytes_eq_nocase(bytes_cut(name, 0, prefixes[i].len), prefixes[i]))
            return true;
    return false;
}

static bool has_any(struct bytes text, const char *marks) {
    for (size_t i = 0; i < text.len; i++)
        for (const char *mark = marks; *mark; mark++)
            if (text.ptr[i] == *mark || text.ptr[i] == '\0')
                return true;
    return false;
}

static bool can_travel(const struct rule_header *header) {
    return header->name.len > 0 && !has_any(header->name, ": \r\n") &&
           !has_any(header->value, "\r\n");
}

static struct bytes origin_text(struct bytes source, const char *name, struct arena *arena) {
    struct json origin, member;
    struct bytes text;
    if (json_parse(source, &origin, NULL) != STATUS_OK || !json_get(origin, name, &member) ||
        !json_string(member, arena, &text))
        return BYTES_NONE;
    return text;
}

static natsStatus add_header(natsMsg *message, struct bytes name, struct bytes value,
                             struct arena *arena) {
    return natsMsgHeader_Add(message, arena_cstr(arena, name), arena_cstr(arena, value));
}

/* A message that returns to its origin has the header that it came with, or none. */
static struct bytes type_header(const struct sink_item *item, struct arena *arena) {
    return item->origin.len ? origin_text(item->origin, NATS_COORDINATES_TYPED, arena)
                            : BYTES("Content-Type");
}

static natsStatus add_headers(natsMsg *message, const struct sink_item *item, struct arena *arena) {
    struct bytes stamp = item->stamp.len ? item->stamp : item->id;
    natsStatus status = add_header(message, BYTES("Nats-Msg-Id"), stamp, arena);
    struct bytes typed = type_header(item, arena);
    if (status == NATS_OK && typed.len && item->content_type.len)
        status = add_header(message, typed, item->content_type, arena);
    if (status == NATS_OK && item->key.ptr && !has_any(item->key, "\r\n"))
        status = add_header(message, BYTES(NATS_HEADERS_KEY), item->key, arena);
    for (size_t i = 0; status == NATS_OK && i < item->header_count; i++) {
        const struct rule_header *header = &item->headers[i];
        if (can_travel(header) && !means_something_to_the_server(header->name))
            status = add_header(message, header->name, header->value, arena);
    }
    return status;
}

static const char *origin_subject(struct bytes source, struct arena *arena) {
    struct bytes subject = origin_text(source, "subject", arena);
    return subject.ptr ? arena_cstr(arena, subject) : NULL;
}

natsMsg *nats_message_make(const struct sink_item *item, const char *subject, const char *reply) {
    struct arena arena;
    natsMsg *message = NULL;
    arena_init_heap(&arena, TEXT_MAX);
    if (item->origin.len)
        subject = origin_subject(item->origin, &arena);
    natsStatus status =
        subject ? natsMsg_Create(&message, subject, reply, item->body.ptr, (int)item->body.len)
                : NATS_INVALID_SUBJECT;
    if (status == NATS_OK)
        status = add_headers(message, item, &arena);
    arena_free(&arena);
    if (status == NATS_OK)
        return message;
    natsMsg_Destroy(message);
    return NULL;
}
