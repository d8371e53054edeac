/* pointer: see the header. */
#include "core/pointer.h"

#define DELETED_WHY "the message was deleted before it could be read"

bool pointer_origin(struct bytes source, struct json *out) {
    struct json origin;
    if (json_parse(source, out, NULL) != STATUS_OK)
        return false;
    if (json_get(*out, "origin", &origin) && origin.type == JSON_OBJECT)
        *out = origin;
    return true;
}

static bool says(struct bytes source, const char *name) {
    struct json origin, member;
    return pointer_origin(source, &origin) && json_get(origin, name, &member);
}

bool pointer_is_tombstone(struct bytes source, struct bytes body) {
    return body.len == 0 && says(source, "tombstone");
}

bool pointer_is_gone(struct bytes source) {
    return says(source, "gone");
}

bool pointer_is_doubtful(struct bytes source) {
    return says(source, "why") && !pointer_is_gone(source);
}

struct bytes pointer_why(struct bytes source, struct arena *arena) {
    struct json origin, why;
    struct bytes text;
    if (pointer_origin(source, &origin) && json_get(origin, "why", &why) &&
        json_string(why, arena, &text))
        return text;
    return arena_dup(arena, BYTES(DELETED_WHY));
}
