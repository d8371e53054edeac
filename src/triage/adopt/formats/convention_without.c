/* convention_without: removes members from a JSON text without reformatting the rest. */
#include "triage/adopt/formats/convention_without.h"

#include <string.h>

static bool is_one(struct bytes key, const char *const *names) {
    for (; *names; names++)
        if (json_key_is(key, *names))
            return true;
    return false;
}

static bool has_one(struct json object, const char *const *names) {
    for (struct json_walk walk = json_walk(object); json_step(&walk);)
        if (is_one(walk.key, names))
            return true;
    return false;
}

/* A removed member takes the comma before it along; the first one, the text up to the next member.
 */
struct bytes convention_without(struct json object, const char *const *names, struct arena *arena) {
    struct bytes text = object.text;
    if (!has_one(object, names))
        return text;
    char *out = arena_cstr(arena, text);
    size_t len = 0, from = 0; /* text[from…] is not copied yet */
    bool first = true;        /* no member was kept so far */
    for (struct json_walk walk = json_walk(object); json_step(&walk);) {
        size_t start = (size_t)(walk.key.ptr - 1 - text.ptr);
        size_t end = (size_t)(walk.value.text.ptr - text.ptr) + walk.value.text.len;
        if (from == 0) { /* the bracket, and the space behind it */
            memcpy(out, text.ptr, start);
            len = from = start;
        }
        if (!is_one(walk.key, names)) {
            size_t begin = first ? start : from;
            memcpy(out + len, text.ptr + begin, end - begin);
            len += end - begin;
            first = false;
        }
        from = end;
    }
    memcpy(out + len, text.ptr + from, text.len - from);
    len += text.len - from;
    return (struct bytes){out, len};
}
