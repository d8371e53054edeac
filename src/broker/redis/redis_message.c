#include "broker/redis/redis_message.h"

#include "base/text/base64.h"
#include "base/text/content.h"
#include "base/json/json.h"
#include "broker/redis/redis_mark.h"
#include "broker/common/url.h"
#include "core/comeback.h"

enum {
    SOURCE_MAX = 8 << 10,
    OBJECT_MAX = 64 << 20,
    AROUND_MAX = 512, /* of the texts around an entry's fields: its id, where it stands, padding */
};

/* A member without a value is true. */
static struct bytes put_source(struct arena *arena, const char *const *names,
                               const struct bytes *values, size_t count) {
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "kind");
    json_put_str(&json, "redis");
    for (size_t i = 0; i < count; i++) {
        json_key(&json, names[i]);
        if (values[i].ptr)
            json_put(&json, values[i]);
        else
            json_put_bool(&json, true);
    }
    json_close(&json, '}');
    struct bytes source = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return source;
}

/* ---- lists and sets ---- */

struct message *redis_message_of_member(const char *shape, struct bytes name, struct bytes id_path,
                                        struct bytes tag, struct bytes member) {
    struct message *held = message_new();
    struct envelope *envelope = &held->envelope;
    held->body = arena_dup(&held->arena, member);
    envelope->header_count = redis_mark_headers(&tag, &held->arena, &envelope->headers);
    envelope->id = url_find_id(id_path, held->body, &held->arena);
    if (envelope->id.len == 0)
        envelope->id = arena_dup(&held->arena, tag);
    envelope->source = put_source(&held->arena, &shape, &name, 1);
    envelope->content_type = content_looks(held->body);
    return held;
}

struct message *redis_message_of_element(struct bytes list, struct bytes id_path, struct bytes tag,
                                         struct bytes element) {
    return redis_message_of_member("list", list, id_path, tag, element);
}

/* ---- streams ---- */

static bool needs_base64(struct bytes name) {
    return !bytes_is_utf8(name) || bytes_starts(name, BYTES(REDIS_MESSAGE_BASE64 ":"));
}

/* A field's name as a JSON text, which cannot hold bytes that are not UTF-8: those, and what would
 * be taken for them, are `base64:…`. */
static struct bytes name_text(struct bytes name, struct arena *arena) {
    if (!needs_base64(name))
        return name;
    struct buf text;
    buf_init_heap(&text, OBJECT_MAX);
    buf_str(&text, REDIS_MESSAGE_BASE64 ":");
    base64_encode(name, &text);
    struct bytes encoded = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return encoded;
}

/* The same of a value, as `{"base64": "…"}`. A field's value is a text, so that no other one is an
 * object. */
static void put_value(struct json_out *json, struct bytes value) {
    if (bytes_is_utf8(value)) {
        json_put(json, value.ptr ? value : BYTES(""));
        return;
    }
    struct buf text;
    buf_init_heap(&text, OBJECT_MAX);
    base64_encode(value, &text);
    json_open(json, '{');
    json_key(json, REDIS_MESSAGE_BASE64);
    json_put(json, buf_view(&text));
    json_close(json, '}');
    buf_free(&text);
}

static struct bytes object_of(const struct redis_message_field *fields, size_t count,
                              struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, OBJECT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    for (size_t i = 0; i < count; i++) {
        json_key_bytes(&json, name_text(fields[i].name, arena));
        put_value(&json, fields[i].value);
    }
    json_close(&json, '}');
    struct bytes object = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return object;
}

static const struct redis_message_field *find(const struct redis_message_field *fields,
                                              size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (bytes_is(fields[i].name, name))
            return &fields[i];
    return NULL;
}

/* The fields that were appended when a letter was sent here. */
static bool is_mark(struct bytes name) {
    return bytes_is(name, COMEBACK_LETTER) || bytes_is(name, COMEBACK_REPLAYS);
}

/* Whether a field is a part of the message; all others are headers. */
static bool take_own(struct envelope *envelope, struct arena *arena,
                     const struct redis_message_field *field) {
    if (bytes_is(field->name, "key"))
        envelope->key = arena_dup(arena, field->value);
    else if (bytes_is(field->name, "content_type"))
        envelope->content_type = arena_dup(arena, field->value);
    else
        return bytes_is(field->name, "body");
    return true;
}

static void add_header(struct message *held, struct rule_header *headers,
                       const struct redis_message_field *field) {
    struct envelope *envelope = &held->envelope;
    if (envelope->header_count < ENVELOPE_HEADERS_MAX)
        headers[envelope->header_count++] = (struct rule_header){
            arena_dup(&held->arena, field->name), arena_dup(&held->arena, field->value)};
}

/* Of the first `own` fields, when they are beside a body, those that are headers; and the marks. */
static void take_fields(struct message *held, const struct redis_message_field *fields, size_t own,
                        size_t count, bool beside) {
    struct rule_header *headers = arena_alloc(&held->arena, (count + 1) * sizeof *headers);
    for (size_t i = 0; beside && i < own; i++)
        if (!take_own(&held->envelope, &held->arena, &fields[i]))
            add_header(held, headers, &fields[i]);
    for (size_t i = own; i < count; i++)
        add_header(held, headers, &fields[i]);
    held->envelope.headers = headers;
}

/* The first half of an entry's id is when it was added. */
static struct wall added_at(struct bytes entry) {
    uint64_t ms;
    bool known = bytes_u64(bytes_cut(entry, 0, bytes_find(entry, BYTES("-"))), &ms);
    return known && ms <= INT64_MAX ? (struct wall){(int64_t)ms} : WALL_NEVER;
}

/* Where it stands, and what it takes to put it there again as it was (redis_entry.c). */
static struct bytes entry_source(struct bytes stream, struct bytes group, struct bytes entry,
                                 const struct redis_message_field *fields, size_t own,
                                 struct arena *arena) {
    const char *names[4];
    struct bytes values[4] = {BYTES_NONE};
    size_t count = 0;
    bool beside = find(fields, own, "body") != NULL;
    names[count] = "stream";
    values[count++] = stream;
    if (group.len > 0) { /* peeking needs none */
        names[count] = "group";
        values[count++] = group;
    }
    names[count] = "entry";
    values[count++] = entry;
    if (!beside && own == 1)
        values[count] = name_text(fields[0].name, arena);
    if (!beside)
        names[count++] = own == 1 ? REDIS_MESSAGE_FIELD : REDIS_MESSAGE_FIELDS;
    else if (find(fields, own, "content_type"))
        names[count++] = REDIS_MESSAGE_TYPED;
    return put_source(arena, names, values, count);
}

/* In most cases all of it is in one piece. */
static size_t room_for(const struct redis_message_field *fields, size_t count) {
    size_t room = AROUND_MAX;
    for (size_t i = 0; i < count; i++)
        room += fields[i].name.len + fields[i].value.len;
    return room;
}

struct message *redis_message_of_entry(struct bytes stream, struct bytes group, struct bytes entry,
                                       const struct redis_message_field *fields, size_t count) {
    struct message *held = message_new_in(NULL, room_for(fields, count));
    struct envelope *envelope = &held->envelope;
    size_t own = count;
    while (own > 0 && is_mark(fields[own - 1].name))
        own--;
    const struct redis_message_field *body = find(fields, own, "body");
    take_fields(held, fields, own, count, body != NULL);
    if (!body && own == 1)
        body = fields;
    held->body = body ? arena_dup(&held->arena, body->value) : object_of(fields, own, &held->arena);
    envelope->id = arena_dup(&held->arena, entry);
    envelope->source = entry_source(stream, group, entry, fields, own, &held->arena);
    envelope->created_at = added_at(entry);
    if (envelope->content_type.len == 0)
        envelope->content_type = content_looks(held->body);
    return held;
}

/* ---- letters in lists ---- */

static struct bytes header_of(const struct sink_item *item, const char *name) {
    for (size_t i = item->header_count; i > 0; i--)
        if (bytes_is(item->headers[i - 1].name, name))
            return item->headers[i - 1].value;
    return BYTES_NONE;
}

/* A member that the element of a letter has. */
struct note {
    const char *name;
    struct bytes value; /* JSON */
    bool there;         /* the body has one of that name */
};

static struct note *find_note(struct note *notes, size_t count, struct bytes key) {
    for (size_t i = 0; i < count; i++)
        if (json_key_is(key, notes[i].name))
            return &notes[i];
    return NULL;
}

/* The whole object but for its last bracket, with the notes' values in place of members of the same
 * names: a letter that died before does not get them twice. The other bytes are unchanged. */
static void put_body(struct json body, struct note *notes, size_t count, struct buf *out) {
    const char *from = body.text.ptr;
    for (struct json_walk walk = json_walk(body); json_step(&walk);) {
        struct note *note = find_note(notes, count, walk.key);
        if (!note)
            continue;
        buf_bytes(out, (struct bytes){from, (size_t)(walk.value.text.ptr - from)});
        buf_bytes(out, note->value);
        from = walk.value.text.ptr + walk.value.text.len;
        note->there = true;
    }
    const char *end = body.text.ptr + body.text.len - 1;
    buf_bytes(out, (struct bytes){from, (size_t)(end - from)});
}

static bool is_empty(struct json object) {
    struct json_walk walk = json_walk(object);
    return !json_step(&walk);
}

bool redis_message_record(const struct sink_item *item, struct buf *out) {
    struct json body;
    struct bytes reason = header_of(item, "dlq-reason"), at = header_of(item, "dlq-failed-at");
    if (!reason.len || !at.len || json_parse(item->body, &body, NULL) != STATUS_OK ||
        body.type != JSON_OBJECT)
        return false;
    struct buf spelled;
    buf_init_heap(&spelled, OBJECT_MAX);
    struct json_out quoted = json_out(&spelled);
    json_put(&quoted, reason);
    struct note notes[] = {{"dlq_reason", buf_view(&spelled), false}, {"dlq_at", at, false}};
    size_t count = sizeof notes / sizeof *notes;
    put_body(body, notes, count, out);
    struct json_out json = {.buf = out, .comma = !is_empty(body)};
    for (size_t i = 0; i < count; i++) {
        if (notes[i].there)
            continue;
        json_key(&json, notes[i].name);
        json_put_raw(&json, notes[i].value);
    }
    buf_char(out, '}');
    buf_free(&spelled);
    return true;
}
