#include "core/pointer.h"

#define DELETED_WHY "the message was deleted before it could be read"

/* The object that says so. */
static bool find(struct bytes source, struct json *out) {
    struct json whole, gone;
    if (json_parse(source, &whole, NULL) != STATUS_OK)
        return false;
    *out = whole;
    if (json_get(*out, "gone", &gone))
        return true;
    return json_get(whole, "origin", out) && json_get(*out, "gone", &gone);
}

bool pointer_is_gone(struct bytes source) {
    struct json object;
    return find(source, &object);
}

struct bytes pointer_why(struct bytes source, struct arena *arena) {
    struct json object, why;
    struct bytes text;
    if (find(source, &object) && json_get(object, "why", &why) && json_string(why, arena, &text))
        return text;
    return arena_dup(arena, BYTES(DELETED_WHY));
}
