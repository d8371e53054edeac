#include "triage/adopt_home.h"

#include "base/json.h"

static bool says(struct json source, const char *member, struct bytes text, struct arena *arena) {
    struct json value;
    struct bytes said;
    return json_get(source, member, &value) && json_string(value, arena, &said) &&
           bytes_eq(said, text);
}

struct bytes adopt_home_find(const struct adopt_home *homes, size_t count, struct bytes server,
                             struct bytes source, struct arena *arena) {
    struct json json;
    struct bytes found = BYTES_NONE;
    if (json_parse(source, &json, NULL) != STATUS_OK)
        return BYTES_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!bytes_eq(homes[i].server, server) ||
            !says(json, "kind", bytes_of(homes[i].kind), arena) ||
            !says(json, homes[i].member, homes[i].name, arena))
            continue;
        if (found.ptr)
            return BYTES_NONE;
        found = homes[i].queue;
    }
    return found;
}
