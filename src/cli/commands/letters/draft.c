/* draft: see the header. */
#include "cli/commands/letters/draft.h"

#include <string.h>

#include "base/instant.h"
#include "base/json/json.h"

#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain"

static void put_body(struct json_out *json, const char *type, struct bytes body) {
    struct json value;
    bool as_json = !type || bytes_eq_nocase(bytes_of(type), BYTES(JSON_TYPE));
    if (as_json && json_parse(body, &value, NULL) == STATUS_OK) {
        json_key(json, "body");
        json_put_raw(json, value.text);
        return;
    }
    json_key(json, "body_base64");
    json_put_base64(json, body);
    json_key(json, "content_type");
    json_put_str(json, type ? type : TEXT_TYPE);
}

static enum status put_header(struct json_out *json, const char *text, struct err *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(err, STATUS_USAGE, "--header %s: write it as NAME=VALUE", text);
    json_key_bytes(json, (struct bytes){text, (size_t)(equals - text)});
    json_put_str(json, equals + 1);
    return STATUS_OK;
}

static enum status put_headers(struct json_out *json, const struct options *options,
                               struct err *err) {
    if (!options_has(options, "header"))
        return STATUS_OK;
    json_key(json, "headers");
    json_open(json, '{');
    for (size_t i = 0; i < options->given_count; i++) {
        const struct options_given *given = &options->given[i];
        if (strcmp(given->row->name, "header") == 0 &&
            put_header(json, given->value, err) != STATUS_OK)
            return STATUS_USAGE;
    }
    json_close(json, '}');
    return STATUS_OK;
}

static void put_given(struct json_out *json, const struct options *options, const char *name) {
    const char *value = options_get(options, name);
    if (!value)
        return;
    json_key(json, name);
    json_put_str(json, value);
}

enum status draft_put(const struct options *options, struct bytes body, struct buf *out,
                      struct err *err) {
    int64_t delay_ms;
    const char *delay = options_get(options, "delay");
    if (delay && !duration_parse(bytes_of(delay), &delay_ms))
        return err_set(err, STATUS_USAGE, "--delay %s is not a duration such as 30s, 5m or 24h",
                       delay);
    struct json_out json = json_out(out);
    json_open(&json, '{');
    put_body(&json, options_get(options, "content-type"), body);
    put_given(&json, options, "key");
    put_given(&json, options, "id");
    put_given(&json, options, "delay");
    enum status status = put_headers(&json, options, err);
    json_close(&json, '}');
    return status;
}
