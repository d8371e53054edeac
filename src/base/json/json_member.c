/* json_member: see the header. */
#include "base/json/json_member.h"

void json_member_text(struct json_out *out, const char *key, struct bytes text) {
    json_key(out, key);
    json_put(out, text.len > 0 ? text : BYTES_NONE);
}

void json_member_number(struct json_out *out, const char *key, uint64_t number) {
    json_key(out, key);
    json_put_i64(out, (int64_t)number);
}

void json_member_time(struct json_out *out, const char *key, struct wall at) {
    char text[INSTANT_TEXT_SIZE];
    json_key(out, key);
    json_put(out, at.ms == WALL_NEVER.ms ? BYTES_NONE : bytes_of(wall_text(at, text)));
}

void json_member_names(struct json_out *out, const char *key, const struct bytes *names,
                       size_t count) {
    json_key(out, key);
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        json_put(out, names[i]);
    json_close(out, ']');
}
