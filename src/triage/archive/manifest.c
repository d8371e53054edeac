/* manifest: see the header. */
#include "triage/archive/manifest.h"

#include <string.h>

#include "base/json/json_member.h"

void manifest_put(const struct manifest *manifest, struct json_out *json) {
    json_open(json, '{');
    json_key(json, "file");
    json_put(json, manifest->file);
    json_key(json, "dlq");
    json_put(json, manifest->dlq.len > 0 ? manifest->dlq : BYTES_NONE);
    json_member_number(json, "letters", manifest->letters);
    json_member_number(json, "bytes", manifest->bytes);
    json_member_time(json, "first_dead_at", manifest->first_dead_at);
    json_member_time(json, "last_dead_at", manifest->last_dead_at);
    json_member_time(json, "written_at", manifest->written_at);
    json_key(json, "sha256");
    json_put_str(json, manifest->sha256);
    json_close(json, '}');
}

static bool read_text(struct json object, const char *key, struct arena *arena, struct bytes *out) {
    struct json value;
    *out = BYTES_NONE;
    return json_get(object, key, &value) &&
           (value.type == JSON_NULL || json_string(value, arena, out));
}

static bool read_number(struct json object, const char *key, uint64_t *out) {
    struct json value;
    int64_t number;
    if (!json_get(object, key, &value) || !json_i64(value, &number) || number < 0)
        return false;
    *out = (uint64_t)number;
    return true;
}

static bool read_time(struct json object, const char *key, struct arena *arena, struct wall *out) {
    struct bytes text;
    *out = WALL_NEVER;
    return read_text(object, key, arena, &text) && (!text.ptr || wall_parse(text, out));
}

static bool read_hash(struct json object, struct arena *arena, char out[MANIFEST_HEX_SIZE]) {
    struct bytes text;
    if (!read_text(object, "sha256", arena, &text) || text.len != MANIFEST_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdef", text.ptr[i]) || !text.ptr[i])
            return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static bool is_plain_name(struct bytes name) {
    return name.len > 0 && name.ptr[0] != '.' && !memchr(name.ptr, '/', name.len) &&
           !memchr(name.ptr, '\0', name.len);
}

enum status manifest_read(struct bytes text, struct arena *arena, struct manifest *out,
                          struct err *err) {
    struct json object;
    *out = (struct manifest){.letters = 0};
    if (json_parse(text, &object, err) != STATUS_OK)
        return STATUS_INVALID;
    bool known = object.type == JSON_OBJECT && read_text(object, "file", arena, &out->file) &&
                 is_plain_name(out->file) && read_text(object, "dlq", arena, &out->dlq) &&
                 read_number(object, "letters", &out->letters) &&
                 read_number(object, "bytes", &out->bytes) &&
                 read_time(object, "first_dead_at", arena, &out->first_dead_at) &&
                 read_time(object, "last_dead_at", arena, &out->last_dead_at) &&
                 read_time(object, "written_at", arena, &out->written_at) &&
                 read_hash(object, arena, out->sha256);
    return known ? STATUS_OK : err_set(err, STATUS_INVALID, "not the manifest of an archive");
}
