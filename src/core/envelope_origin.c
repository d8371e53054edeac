#include "core/envelope_origin.h"

bool envelope_origin(const struct envelope *envelope, struct json *out) {
    struct json origin;
    if (json_parse(envelope->source, out, NULL) != STATUS_OK)
        return false;
    if (json_get(*out, "origin", &origin) && origin.type == JSON_OBJECT)
        *out = origin;
    return true;
}
