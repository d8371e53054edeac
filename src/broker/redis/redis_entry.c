#include "broker/redis/redis_entry.h"

#include "base/text/base64.h"
#include "base/json/json.h"
#include "broker/redis/redis_mark.h"
#include "broker/redis/redis_message.h"

enum {
    RECORD_MAX = 1 << 30,
    KEY_MAX = 64 << 10,
    VARINT_BITS = 0x7f,  /* of a byte */
    TASK_PAYLOAD = 0x12, /* field 2, bytes with their length */
};

/* KEYS: the list, the marks. ARGV: element, mark. */
#define PUSH_MARKED                                                                                \
    REDIS_MARK_ADD                                                                                 \
    "redis.call('LPUSH', KEYS[1], ARGV[1]) "                                                       \
    "mark_add(KEYS[2], ARGV[1], ARGV[2], false) "                                                  \
    "return 1"

/* KEYS: the task, its queue's list. ARGV: its id, its message. A task that waits is the one that
 * was sent before. */
#define ENQUEUE_TASK                                                                               \
    "local state = redis.call('HGET', KEYS[1], 'state') "                                          \
    "if state == 'pending' then return 0 end "                                                     \
    "if redis.call('EXISTS', KEYS[1]) == 1 then "                                                  \
    "  return redis.error_reply('ASYNQ it is ' .. (state or 'broken')) "                           \
    "end "                                                                                         \
    "local time = redis.call('TIME') "                                                             \
    "local since = string.format('%s%06d000', time[1], time[2]) "                                  \
    "redis.call('HSET', KEYS[1], 'msg', ARGV[2], 'state', 'pending', 'pending_since', since) "     \
    "redis.call('LPUSH', KEYS[2], ARGV[1]) "                                                       \
    "return 1"

static void add(struct redis_entry *entry, struct bytes word) {
    entry->words[entry->count++] = word;
}

static void add_field(struct redis_entry *entry, struct bytes name, struct bytes value) {
    if (entry->count + 2 > REDIS_ENTRY_WORDS_MAX) {
        entry->overflow = true;
        return;
    }
    add(entry, name);
    add(entry, value.ptr ? value : BYTES(""));
}

/* ---- lists ---- */

static struct bytes element_of(const struct sink_item *item, struct arena *arena) {
    struct buf record;
    buf_init_heap(&record, RECORD_MAX);
    struct bytes element =
        redis_message_record(item, &record) ? arena_dup(arena, buf_view(&record)) : item->body;
    buf_free(&record);
    return element;
}

static struct bytes marks_of(struct bytes list, struct arena *arena) {
    struct buf key;
    buf_init_heap(&key, KEY_MAX);
    buf_bytes(&key, list);
    buf_str(&key, REDIS_MARK_BEHIND);
    struct bytes marks = arena_dup(arena, buf_view(&key));
    buf_free(&key);
    return marks;
}

void redis_entry_push(struct redis_entry *entry, struct bytes list, const struct sink_item *item,
                      struct arena *arena) {
    struct bytes mark = item->origin.len ? redis_mark_of(item, arena) : BYTES_NONE;
    entry->count = 0;
    entry->overflow = false;
    if (mark.len == 0) {
        add(entry, BYTES("LPUSH"));
        add(entry, list);
        add(entry, element_of(item, arena));
        return;
    }
    add(entry, BYTES("EVAL"));
    add(entry, BYTES(PUSH_MARKED));
    add(entry, BYTES("2"));
    add(entry, list);
    add(entry, marks_of(list, arena));
    add(entry, item->body);
    add(entry, mark);
}

/* ---- streams ---- */

/* What stands in it, decoded. */
static struct bytes text_of(struct json value, struct arena *arena) {
    struct bytes text;
    return json_string(value, arena, &text) ? text : value.text;
}

/* A key is what stands between its quotes. */
static struct bytes key_of(struct bytes raw, struct arena *arena) {
    return text_of((struct json){JSON_STRING, {raw.ptr - 1, raw.len + 2}}, arena);
}

static struct bytes decoded(struct bytes text, struct arena *arena, struct bytes otherwise) {
    struct buf data;
    buf_init_heap(&data, RECORD_MAX);
    struct bytes bytes = base64_decode(text, &data) ? arena_dup(arena, buf_view(&data)) : otherwise;
    buf_free(&data);
    return bytes;
}

/* A field's name and value as they were (redis_message.h). */
static struct bytes name_of(struct bytes text, struct arena *arena) {
    static const struct bytes prefix = {REDIS_MESSAGE_BASE64 ":", sizeof REDIS_MESSAGE_BASE64};
    if (!bytes_starts(text, prefix))
        return text;
    return decoded(bytes_cut(text, prefix.len, text.len), arena, text);
}

static struct bytes value_of(struct json value, struct arena *arena) {
    struct json inside;
    struct bytes text;
    if (value.type == JSON_OBJECT && json_get(value, REDIS_MESSAGE_BASE64, &inside) &&
        json_string(inside, arena, &text))
        return decoded(text, arena, value.text);
    return text_of(value, arena);
}

static bool add_members(struct redis_entry *entry, struct bytes body, struct arena *arena) {
    struct json object;
    if (json_parse(body, &object, NULL) != STATUS_OK || object.type != JSON_OBJECT)
        return false;
    for (struct json_walk walk = json_walk(object); json_step(&walk);)
        add_field(entry, name_of(key_of(walk.key, arena), arena), value_of(walk.value, arena));
    return true;
}

/* `body … [key …] [content_type …]`, as redis_message.h reads it. */
static void add_own(struct redis_entry *entry, const struct sink_item *item, bool typed) {
    add_field(entry, BYTES("body"), item->body);
    if (item->key.ptr)
        add_field(entry, BYTES("key"), item->key);
    if (typed && item->content_type.len)
        add_field(entry, BYTES("content_type"), item->content_type);
}

void redis_entry_append(struct redis_entry *entry, struct bytes stream,
                        const struct sink_item *item, struct arena *arena) {
    struct json origin, member;
    bool back = item->origin.len && json_parse(item->origin, &origin, NULL) == STATUS_OK;
    entry->count = 0;
    entry->overflow = false;
    add(entry, BYTES("XADD"));
    add(entry, stream);
    add(entry, BYTES("*"));
    bool made = false;
    if (back && json_get(origin, REDIS_MESSAGE_FIELD, &member)) {
        add_field(entry, name_of(text_of(member, arena), arena), item->body);
        made = true;
    } else if (back && json_get(origin, REDIS_MESSAGE_FIELDS, &member)) {
        made = add_members(entry, item->body, arena);
    }
    if (!made)
        add_own(entry, item, !back || json_get(origin, REDIS_MESSAGE_TYPED, &member));
    for (size_t i = 0; i < item->header_count; i++)
        add_field(entry, item->headers[i].name, item->headers[i].value);
}

/* ---- asynq ---- */

static struct bytes task_key(struct bytes queue, const char *behind, struct bytes id,
                             struct arena *arena) {
    struct buf key;
    buf_init_heap(&key, KEY_MAX);
    buf_str(&key, "asynq:{");
    buf_bytes(&key, queue);
    buf_str(&key, behind);
    buf_bytes(&key, id);
    struct bytes kept = arena_dup(arena, buf_view(&key));
    buf_free(&key);
    return kept;
}

static void put_varint(struct buf *out, uint64_t number) {
    for (; number > VARINT_BITS; number >>= 7)
        buf_char(out, (char)(number | (VARINT_BITS + 1)));
    buf_char(out, (char)number);
}

/* The task's message lacks its payload, which is appended: fields of protobuf may come in any
 * order. */
static bool task_with(struct bytes encoded, struct bytes payload, struct arena *arena,
                      struct bytes *out) {
    struct buf message;
    buf_init_heap(&message, RECORD_MAX);
    bool good = base64_decode(encoded, &message);
    if (payload.len > 0) {
        buf_char(&message, TASK_PAYLOAD);
        put_varint(&message, payload.len);
        buf_bytes(&message, payload);
    }
    *out = arena_dup(arena, buf_view(&message));
    good = good && !message.overflow;
    buf_free(&message);
    return good;
}

/* Appended to the queue, as asynq's own client does. False: the source has too few members. */
static bool enqueue_task(struct redis_entry *entry, struct json origin,
                         const struct sink_item *item, struct arena *arena) {
    struct json queue, id, task;
    struct bytes message;
    if (!json_get(origin, "asynq", &queue) || queue.type != JSON_STRING ||
        !json_get(origin, "id", &id) || id.type != JSON_STRING ||
        !json_get(origin, "task", &task) || task.type != JSON_STRING ||
        !task_with(text_of(task, arena), item->body, arena, &message))
        return false;
    struct bytes name = text_of(queue, arena), number = text_of(id, arena);
    entry->count = 0;
    entry->overflow = false;
    add(entry, BYTES("EVAL"));
    add(entry, BYTES(ENQUEUE_TASK));
    add(entry, BYTES("2"));
    add(entry, task_key(name, "}:t:", number, arena));
    add(entry, task_key(name, "}:pending", BYTES_NONE, arena));
    add(entry, number);
    add(entry, message);
    return true;
}

/* ---- back ---- */

enum status redis_entry_return(struct redis_entry *entry, const struct sink_item *item,
                               struct arena *arena, struct err *err) {
    struct json origin, member;
    bool known = json_parse(item->origin, &origin, NULL) == STATUS_OK;
    if (known && json_get(origin, "list", &member) && member.type == JSON_STRING)
        redis_entry_push(entry, text_of(member, arena), item, arena);
    else if (known && json_get(origin, "stream", &member) && member.type == JSON_STRING)
        redis_entry_append(entry, text_of(member, arena), item, arena);
    else if (!known || !enqueue_task(entry, origin, item, arena))
        return err_set(err, STATUS_INVALID,
                       "redis: the message does not come from a list, a stream or asynq");
    if (entry->overflow)
        return err_set(err, STATUS_INVALID, "redis: the entry has more than %d fields",
                       (REDIS_ENTRY_WORDS_MAX - 3) / 2);
    return STATUS_OK;
}
