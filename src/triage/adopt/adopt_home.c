/* adopt_home: matches an envelope's source (JSON) with the sources of the configured queues. A
 * source that several queues read belongs to none of them. */
#include "triage/adopt/adopt_home.h"

enum { HOME_TEXTS_CHUNK = 512 };

static bool says(struct json source, const char *member, struct bytes text, struct arena *arena) {
    struct json value;
    struct bytes said;
    return json_get(source, member, &value) && json_string(value, arena, &said) &&
           bytes_eq(said, text);
}

static bool is_home(const struct adopt_home *home, struct bytes server, struct json source,
                    struct arena *arena) {
    return bytes_eq(home->server, server) && says(source, "kind", bytes_of(home->kind), arena) &&
           says(source, home->member, home->name, arena);
}

bool adopt_home_is(const struct adopt_home *home, struct bytes server, struct json source) {
    struct arena arena;
    arena_init_heap(&arena, HOME_TEXTS_CHUNK);
    bool is = is_home(home, server, source, &arena);
    arena_free(&arena);
    return is;
}

struct bytes adopt_home_find(const struct adopt_home *homes, size_t count, struct bytes server,
                             struct bytes source, struct arena *arena) {
    struct json json;
    struct bytes found = BYTES_NONE;
    if (json_parse(source, &json, NULL) != STATUS_OK)
        return BYTES_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!is_home(&homes[i], server, json, arena))
            continue;
        if (found.ptr)
            return BYTES_NONE;
        found = homes[i].queue;
    }
    return found;
}
