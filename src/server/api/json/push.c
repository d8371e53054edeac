#include "server/api/json/push.h"

#include <sodium.h>
#include <string.h>

#include "base/containers/map.h"
#include "base/text/uuid.h"
#include "server/api/json/member.h"

/* ---- one push object ---- */

struct push_draft {
    struct push_item *item;
    bool has_body, has_base64;
};

static enum status set_body(void *into, struct json value, struct arena *arena, struct err *err) {
    (void)arena;
    (void)err;
    struct push_draft *draft = into;
    draft->has_body = true;
    draft->item->body = value.text;
    return STATUS_OK;
}

static enum status set_base64(void *into, struct json value, struct arena *arena, struct err *err) {
    struct push_draft *draft = into;
    draft->has_base64 = true;
    return member_base64(value, arena, &draft->item->body, err);
}

static enum status set_content_type(void *into, struct json value, struct arena *arena,
                                    struct err *err) {
    struct push_draft *draft = into;
    return member_text(value, 1, PUSH_CONTENT_TYPE_MAX, arena, &draft->item->envelope.content_type,
                       err);
}

static enum status set_key(void *into, struct json value, struct arena *arena, struct err *err) {
    struct push_draft *draft = into;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 1, PUSH_KEY_MAX, arena, &draft->item->envelope.key, err);
}

static enum status set_headers(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct push_draft *draft = into;
    struct envelope *envelope = &draft->item->envelope;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_headers(value, arena, &envelope->headers, &envelope->header_count, err);
}

static enum status set_id(void *into, struct json value, struct arena *arena, struct err *err) {
    struct push_draft *draft = into;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    draft->item->chose_id = true;
    return member_text(value, 1, PUSH_ID_MAX, arena, &draft->item->envelope.id, err);
}

static enum status set_delay(void *into, struct json value, struct arena *arena, struct err *err) {
    struct push_draft *draft = into;
    struct bytes text;
    int64_t ms = 0;
    bool known = value.type == JSON_NULL || json_i64(value, &ms) ||
                 (json_string(value, arena, &text) && duration_parse(text, &ms));
    if (!known || ms < 0)
        return err_set(err, STATUS_INVALID,
                       "must be a duration such as \"5m\", or a whole number of milliseconds");
    if (ms > PUSH_DELAY_MAX_MS)
        return err_set(err, STATUS_INVALID, "must be at most 365d");
    draft->item->envelope.delay_ms = ms;
    return STATUS_OK;
}

static const struct member members[] = {
    {"body", set_body},   {"body_base64", set_base64}, {"content_type", set_content_type},
    {"key", set_key},     {"headers", set_headers},    {"id", set_id},
    {"delay", set_delay},
};

static enum status check_bodies(const struct push_draft *draft, struct err *err) {
    if (draft->has_body && draft->has_base64)
        return err_set(err, STATUS_INVALID, "\"body\" and \"body_base64\" are both given");
    if (!draft->has_body && !draft->has_base64)
        return err_set(err, STATUS_INVALID,
                       "\"body\" is missing: send {\"body\": …} or {\"body_base64\": \"…\"}");
    return STATUS_OK;
}

void push_fill(const struct push_context *context, struct push_item *item, bool raw) {
    struct envelope *envelope = &item->envelope;
    envelope->queue = context->queue;
    envelope->created_at = context->now;
    envelope->retry_after_ms = -1;
    envelope->source = BYTES("{\"kind\":\"builtin\"}");
    envelope->size = item->body.len;
    if (!envelope->content_type.ptr)
        envelope->content_type =
            raw ? BYTES("application/octet-stream") : BYTES("application/json");
    if (envelope->delay_ms > 0)
        envelope->next_attempt_at = (struct wall){context->now.ms + envelope->delay_ms};
    if (!item->chose_id) {
        char *id = arena_alloc(context->arena, UUID_TEXT_SIZE);
        uuid_v7(context->now, context->rng, id);
        envelope->id = bytes_of(id);
    }
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)item->body.ptr, item->body.len);
    sodium_bin2hex(envelope->content_hash, sizeof envelope->content_hash, hash, sizeof hash);
}

static enum status read_item(const struct push_context *context, struct bytes text,
                             struct push_item *item, struct err *err) {
    struct json object;
    if (json_parse(text, &object, err) != STATUS_OK)
        return STATUS_INVALID;
    if (object.type != JSON_OBJECT)
        return err_set(err, STATUS_INVALID, "must be an object such as {\"body\": …}, not %s",
                       json_type_name(object.type));
    struct push_draft draft = {.item = item};
    if (member_read(members, sizeof members / sizeof *members, object, &draft, context->arena,
                    err) != STATUS_OK ||
        check_bodies(&draft, err) != STATUS_OK)
        return STATUS_INVALID;
    push_fill(context, item, draft.has_base64);
    return STATUS_OK;
}

enum status push_parse_one(const struct push_context *context, struct bytes text, struct push *out,
                           struct err *err) {
    *out = (struct push){.items = arena_alloc(context->arena, sizeof *out->items), .count = 1};
    struct err why;
    if (read_item(context, text, out->items, &why) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "the message: %s", why.text);
    return STATUS_OK;
}

/* ---- NDJSON ---- */

/* An id that the producer chose, to detect the same id in a later line. */
struct push_choice {
    struct map_node node;
    size_t place;
};

static const struct push_choice *find_chosen(const struct map *ids, const struct push *push,
                                             struct bytes id, uint64_t hash) {
    for (struct map_node *node = map_first(ids, hash); node; node = map_next(node)) {
        const struct push_choice *chosen = (const struct push_choice *)(const void *)node;
        if (bytes_eq(push->items[chosen->place].envelope.id, id))
            return chosen;
    }
    return NULL;
}

enum status push_note_id(const struct push_context *context, struct push *push, size_t place,
                         struct map *ids, struct err *err) {
    struct push_item *item = &push->items[place];
    if (!item->chose_id)
        return STATUS_OK;
    uint64_t hash = bytes_hash(item->envelope.id);
    const struct push_choice *first = find_chosen(ids, push, item->envelope.id, hash);
    if (!first) {
        struct push_choice *chosen = arena_alloc(context->arena, sizeof *chosen);
        chosen->place = place;
        map_insert(ids, &chosen->node, hash);
        return STATUS_OK;
    }
    const struct push_item *earlier = &push->items[first->place];
    item->repeat_of = first->place + 1;
    if (bytes_eq(earlier->body, item->body))
        return STATUS_OK;
    return err_set(err, STATUS_CONFLICT, "the id \"%.*s\" stands on line %zu with another body",
                   BYTES_ARG(item->envelope.id), earlier->line);
}

static enum status count_lines(struct bytes text, size_t *filled, struct err *err) {
    size_t lines = 0;
    *filled = 0;
    for (struct bytes line; bytes_line(&text, &line); lines++)
        *filled += bytes_trim(line).len > 0;
    if (lines > PUSH_LINES_MAX)
        return err_set(err, STATUS_INVALID,
                       "the request has %zu lines; at most %d are taken at a time", lines,
                       PUSH_LINES_MAX);
    if (*filled == 0)
        return err_set(err, STATUS_INVALID, "the request has no messages: send one a line");
    return STATUS_OK;
}

/* The JSON reader sees each line by itself and calls it line 1; that would be wrong here. */
static void drop_line_1(char *text) {
    static const char sign[] = "line 1, ";
    char *at = strncmp(text, "not JSON: ", 10) == 0 ? strstr(text, sign) : NULL;
    if (at)
        memmove(at, at + sizeof sign - 1, strlen(at + sizeof sign - 1) + 1);
}

static enum status read_lines(const struct push_context *context, struct bytes text,
                              struct push *out, struct map *ids, struct err *err) {
    struct err why;
    size_t number = 0;
    for (struct bytes line; bytes_line(&text, &line);) {
        number++;
        line = bytes_trim(line);
        if (line.len == 0)
            continue;
        struct push_item *item = &out->items[out->count];
        item->line = number;
        enum status status = read_item(context, line, item, &why);
        if (status == STATUS_OK)
            status = push_note_id(context, out, out->count, ids, &why);
        if (status != STATUS_OK) {
            out->line = number;
            drop_line_1(why.text);
            return err_set(err, status, "line %zu: %s", number, why.text);
        }
        out->count++;
    }
    return STATUS_OK;
}

enum status push_parse_lines(const struct push_context *context, struct bytes text,
                             struct push *out, struct err *err) {
    size_t filled;
    *out = (struct push){0};
    if (count_lines(text, &filled, err) != STATUS_OK)
        return STATUS_INVALID;
    out->items = arena_alloc(context->arena, filled * sizeof *out->items);
    struct map ids = {0};
    enum status status = read_lines(context, text, out, &ids, err);
    map_free(&ids);
    return status;
}
