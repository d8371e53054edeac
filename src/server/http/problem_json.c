#include "server/http/problem_json.h"

#include <ctype.h>
#include <string.h>

/* "urn:impound:problem:not_found" */
static void put_type(struct json_out *json, enum status status) {
    char type[64] = "urn:impound:problem:";
    size_t len = strlen(type);
    for (const char *c = status_name(status); *c && len < sizeof type - 1; c++)
        type[len++] = (char)tolower((unsigned char)*c);
    json_put(json, (struct bytes){type, len});
}

void problem_json_open(struct json_out *json, enum status status, struct bytes detail,
                       struct bytes instance, size_t line) {
    json_open(json, '{');
    json_key(json, "type");
    put_type(json, status);
    json_key(json, "title");
    json_put_str(json, status_text(status));
    json_key(json, "status");
    json_put_i64(json, status_http(status));
    json_key(json, "detail");
    json_put(json, detail);
    if (instance.len > 0) {
        json_key(json, "instance");
        json_put(json, instance);
    }
    if (line > 0) {
        json_key(json, "line");
        json_put_i64(json, (int64_t)line);
    }
}

void problem_json_put(struct buf *out, enum status status, struct bytes detail,
                      struct bytes instance, size_t line) {
    struct json_out json = json_out(out);
    problem_json_open(&json, status, detail, instance, line);
    json_close(&json, '}');
}
