#include "broker/nats_message.h"

#include <inttypes.h>

#include "base/content.h"
#include "broker/nats_ack.h"
#include "broker/nats_url.h"
#include "core/comeback.h"

enum { ID_SIZE = NATS_URL_NAME_MAX + 32, SOURCE_MAX = 64 * 1024, TEXT_MAX = 4096 };

/* ---- received ---- */

struct texts {
    struct arena *arena;
    struct rule_header *out;
    size_t count;
};

static void add_values(struct texts *texts, natsMsg *message, const char *name) {
    const char **values = NULL;
    int count = 0;
    if (natsMsgHeader_Values(message, name, &values, &count) != NATS_OK)
        return;
    for (int i = 0; i < count && texts->count < ENVELOPE_HEADERS_MAX; i++)
        texts->out[texts->count++] = (struct rule_header){
            arena_dup(texts->arena, bytes_of(name)), arena_dup(texts->arena, bytes_of(values[i]))};
    free(values);
}

/* What a letter was sent with, so that the server tells a second copy of it. */
static bool is_ours(natsMsg *message, struct bytes name) {
    const char *letter;
    return bytes_eq_nocase(name, BYTES("Nats-Msg-Id")) &&
           natsMsgHeader_Get(message, COMEBACK_LETTER, &letter) == NATS_OK;
}

static void read_headers(natsMsg *message, struct store_held *held) {
    const char **names = NULL;
    int count = 0;
    struct texts texts = {&held->arena, NULL, 0};
    if (natsMsgHeader_Keys(message, &names, &count) != NATS_OK)
        return;
    texts.out = arena_alloc(&held->arena, ENVELOPE_HEADERS_MAX * sizeof *texts.out);
    for (int i = 0; i < count; i++) {
        struct bytes name = bytes_of(names[i]);
        const char *value = "";
        if (bytes_eq_nocase(name, BYTES("Content-Type")) || bytes_is(name, NATS_MESSAGE_KEY))
            natsMsgHeader_Get(message, names[i], &value);
        if (bytes_is(name, NATS_MESSAGE_KEY))
            held->envelope.key = arena_dup(&held->arena, bytes_of(value));
        else if (bytes_eq_nocase(name, BYTES("Content-Type")))
            held->envelope.content_type = arena_dup(&held->arena, bytes_of(value));
        else if (!is_ours(message, name))
            add_values(&texts, message, names[i]);
    }
    free(names);
    held->envelope.headers = texts.out;
    held->envelope.header_count = texts.count;
}

static void put_text(struct json_out *out, const char *key, struct bytes text) {
    json_key(out, key);
    json_put(out, text);
}

static struct bytes source_of(const struct nats_ack *ack, const char *subject,
                              struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    put_text(&out, "kind", BYTES("nats"));
    put_text(&out, "stream", ack->stream);
    put_text(&out, "consumer", ack->consumer);
    put_text(&out, "subject", bytes_of(subject));
    json_key(&out, "sequence");
    json_put_i64(&out, (int64_t)ack->sequence);
    json_key(&out, "delivered");
    json_put_i64(&out, (int64_t)ack->delivered);
    json_close(&out, '}');
    struct bytes source = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return source;
}

struct parcel *nats_message_read(natsMsg *message) {
    struct nats_ack ack;
    struct buf id;
    char id_text[ID_SIZE];
    struct bytes reply = bytes_of(natsMsg_GetReply(message));
    if (!nats_ack_parse(reply, &ack))
        return NULL;
    struct store_held *held = store_held_new();
    struct envelope *envelope = &held->envelope;
    held->body = arena_dup(&held->arena, (struct bytes){natsMsg_GetData(message),
                                                        (size_t)natsMsg_GetDataLength(message)});
    read_headers(message, held);
    if (!envelope->content_type.ptr)
        envelope->content_type = content_looks(held->body);
    buf_init_fixed(&id, id_text, sizeof id_text);
    buf_printf(&id, "%.*s:%" PRIu64, BYTES_ARG(ack.stream), ack.sequence);
    envelope->id = arena_dup(&held->arena, buf_view(&id));
    envelope->source = source_of(&ack, natsMsg_GetSubject(message), &held->arena);
    envelope->state = STATE_QUEUED;
    envelope->created_at = ack.stored_at;
    envelope->size = held->body.len;
    envelope->retry_after_ms = -1;
    held->redelivered = ack.delivered > 1;
    held->deliveries = ack.delivered < UINT32_MAX ? (uint32_t)ack.delivered : UINT32_MAX;
    struct parcel *parcel = parcel_new(held);
    parcel->reply = bytes_dup(reply);
    return parcel;
}

/* ---- to publish ---- */

/* Nats-Msg-Id is the item's own; the others would make the server refuse, delay or drop it. */
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

static natsStatus add_header(natsMsg *message, struct bytes name, struct bytes value,
                             struct arena *arena) {
    return natsMsgHeader_Add(message, arena_cstr(arena, name), arena_cstr(arena, value));
}

static natsStatus add_headers(natsMsg *message, const struct sink_item *item, struct arena *arena) {
    natsStatus status = add_header(message, BYTES("Nats-Msg-Id"), item->id, arena);
    if (status == NATS_OK && item->content_type.len)
        status = add_header(message, BYTES("Content-Type"), item->content_type, arena);
    if (status == NATS_OK && item->key.ptr && !has_any(item->key, "\r\n"))
        status = add_header(message, BYTES(NATS_MESSAGE_KEY), item->key, arena);
    for (size_t i = 0; status == NATS_OK && i < item->header_count; i++) {
        const struct rule_header *header = &item->headers[i];
        if (can_travel(header) && !means_something_to_the_server(header->name))
            status = add_header(message, header->name, header->value, arena);
    }
    return status;
}

static const char *origin_subject(struct bytes source, struct arena *arena) {
    struct json origin, member;
    struct bytes subject;
    if (json_parse(source, &origin, NULL) != STATUS_OK || !json_get(origin, "subject", &member) ||
        !json_string(member, arena, &subject))
        return NULL;
    return arena_cstr(arena, subject);
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
