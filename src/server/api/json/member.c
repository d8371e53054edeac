#include "server/api/json/member.h"

#include <assert.h>

#include "base/text/base64.h"
#include "base/text/http_field.h"
#include "base/text/suggest.h"
#include "core/envelope/envelope.h"
#include "server/api/json/push.h"

enum { QUOTE_MAX = 64 }; /* bytes of a name in an error */

static enum status unknown(const struct member *members, size_t count, struct bytes key,
                           struct err *err) {
    struct suggest nearest = suggest_for(key);
    for (size_t i = 0; i < count; i++)
        suggest_try(&nearest, bytes_of(members[i].name));
    key = bytes_clip(key, QUOTE_MAX);
    if (nearest.best.len > 0)
        return err_set(err, STATUS_INVALID, "unknown member \"%.*s\"; did you mean \"%.*s\"?",
                       BYTES_ARG(key), BYTES_ARG(nearest.best));
    return err_set(err, STATUS_INVALID, "unknown member \"%.*s\"", BYTES_ARG(key));
}

static size_t place_of(const struct member *members, size_t count, struct bytes key) {
    size_t place = 0;
    while (place < count && !json_key_is(key, members[place].name))
        place++;
    return place;
}

enum status member_read(const struct member *members, size_t count, struct json object, void *into,
                        struct arena *arena, struct err *err) {
    assert(count <= MEMBERS_MAX);
    uint32_t seen = 0;
    for (struct json_walk walk = json_walk(object); json_step(&walk);) {
        size_t place = place_of(members, count, walk.key);
        if (place == count)
            return unknown(members, count, walk.key, err);
        if (seen & (UINT32_C(1) << place))
            return err_set(err, STATUS_INVALID, "\"%s\" is given twice", members[place].name);
        seen |= UINT32_C(1) << place;
        struct err why;
        if (members[place].set(into, walk.value, arena, &why) != STATUS_OK)
            return err_set(err, STATUS_INVALID, "\"%s\" %s", members[place].name, why.text);
    }
    return STATUS_OK;
}

enum status member_check_text(struct bytes text, size_t min, size_t max, struct err *err) {
    if (text.len < min || text.len > max)
        return err_set(err, STATUS_INVALID, "must have %zu to %zu bytes, and has %zu", min, max,
                       text.len);
    if (!bytes_is_printable(text))
        return err_set(err, STATUS_INVALID, "must be printable text, without control characters");
    return STATUS_OK;
}

enum status member_text(struct json value, size_t min, size_t max, struct arena *arena,
                        struct bytes *out, struct err *err) {
    if (!json_string(value, arena, out))
        return err_set(err, STATUS_INVALID, "must be a string, not %s", json_type_name(value.type));
    if (json_has_lone_surrogate(value))
        return err_set(err, STATUS_INVALID,
                       "has an escape that is half a character, as \\ud800 is");
    return member_check_text(*out, min, max, err);
}

static enum status read_header(struct json_walk *walk, struct arena *arena,
                               struct rule_header *header, struct err *err) {
    if (!json_unescape(walk->key, arena, &header->name) || !http_field_is_name(header->name) ||
        header->name.len > PUSH_HEADER_MAX)
        return err_set(err, STATUS_INVALID, "has the name \"%.*s\", which is no HTTP header name",
                       BYTES_ARG(bytes_clip(walk->key, QUOTE_MAX)));
    struct err why;
    if (member_text(walk->value, 0, PUSH_HEADER_MAX, arena, &header->value, &why) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "→ \"%.*s\" %s",
                       BYTES_ARG(bytes_clip(header->name, QUOTE_MAX)), why.text);
    return STATUS_OK;
}

enum status member_headers(struct json value, struct arena *arena, const struct rule_header **out,
                           size_t *count, struct err *err) {
    if (value.type != JSON_OBJECT)
        return err_set(err, STATUS_INVALID, "must be an object of strings, not %s",
                       json_type_name(value.type));
    size_t total = 0;
    for (struct json_walk walk = json_walk(value); json_step(&walk);)
        total++;
    if (total > ENVELOPE_HEADERS_MAX)
        return err_set(err, STATUS_INVALID, "has %zu headers; at most %d are allowed", total,
                       ENVELOPE_HEADERS_MAX);
    struct rule_header *headers = total ? arena_alloc(arena, total * sizeof *headers) : NULL;
    size_t filled = 0;
    for (struct json_walk walk = json_walk(value); json_step(&walk);) {
        if (read_header(&walk, arena, &headers[filled++], err) != STATUS_OK)
            return STATUS_INVALID;
    }
    *out = headers;
    *count = total;
    return STATUS_OK;
}

enum status member_base64(struct json value, struct arena *arena, struct bytes *out,
                          struct err *err) {
    struct bytes text;
    if (!json_string(value, arena, &text))
        return err_set(err, STATUS_INVALID, "must be a string, not %s", json_type_name(value.type));
    struct buf decoded;
    buf_init_fixed(&decoded, arena_alloc(arena, text.len + 1), text.len + 1);
    if (!base64_decode(text, &decoded))
        return err_set(err, STATUS_INVALID, "is not base64 (standard alphabet, with padding)");
    *out = buf_view(&decoded);
    return STATUS_OK;
}
