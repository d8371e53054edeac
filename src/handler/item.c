#include "handler/item.h"

static bool is_json(struct bytes content_type, struct bytes body) {
    struct bytes media =
        bytes_trim(bytes_cut(content_type, 0, bytes_find(content_type, BYTES(";"))));
    struct json value;
    return bytes_eq_nocase(media, BYTES("application/json")) &&
           json_parse(body, &value, NULL) == STATUS_OK;
}

/* Names its member itself: body or body_base64. */
static void put_body(struct json_out *out, const struct call *call) {
    bool text = bytes_is_utf8(call->body);
    json_key(out, text ? "body" : "body_base64");
    if (!text)
        json_put_base64(out, call->body);
    else if (is_json(call->content_type, call->body))
        json_put_raw(out, call->body);
    else
        json_put(out, call->body);
}

static void put_headers(struct json_out *out, const struct call *call) {
    json_key(out, "headers");
    json_open(out, '{');
    for (size_t i = 0; i < call->header_count; i++) {
        json_key_bytes(out, call->headers[i].name);
        json_put(out, call->headers[i].value);
    }
    json_close(out, '}');
}

void item_put(struct json_out *out, const struct call *call) {
    json_open(out, '{');
    json_key(out, "id");
    json_put(out, call->id);
    json_key(out, "queue");
    json_put(out, call->queue);
    json_key(out, "key");
    json_put(out, call->key);
    json_key(out, "attempt");
    json_put_i64(out, call->attempt);
    json_key(out, "replay");
    json_put_i64(out, call->replay);
    put_headers(out, call);
    json_key(out, "content_type");
    json_put(out, call->content_type);
    put_body(out, call);
    json_close(out, '}');
}

/* A line break in checked JSON stands between tokens: inside strings it is escaped. */
void item_put_line(struct json_out *out, const struct call *call) {
    size_t from = out->buf->len;
    item_put(out, call);
    for (size_t i = from; i < out->buf->len; i++) {
        char *c = &out->buf->ptr[i];
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
}
