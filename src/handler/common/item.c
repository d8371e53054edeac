/* item: see the header. */
#include "handler/common/item.h"

#include "core/envelope/envelope.h"

void item_put(struct json_out *out, const struct call *call) {
    json_open(out, '{');
    json_key(out, "id");
    json_put(out, call->id);
    json_key(out, "queue");
    json_put(out, call->queue);
    json_key(out, "key");
    envelope_put_any(out, call->key);
    json_key(out, "attempt");
    json_put_i64(out, call->attempt);
    json_key(out, "replay");
    json_put_i64(out, call->replay);
    envelope_put_headers(out, call->headers, call->header_count);
    json_key(out, "content_type");
    json_put(out, call->content_type);
    envelope_put_body(out, call->content_type, call->body);
    if (call->tombstone) {
        json_key(out, "tombstone");
        json_put_bool(out, true);
    }
    json_close(out, '}');
}

/* A line break in valid JSON is between tokens, since strings escape it. */
void item_put_line(struct json_out *out, const struct call *call) {
    size_t from = out->buf->len;
    item_put(out, call);
    for (size_t i = from; i < out->buf->len; i++) {
        char *c = &out->buf->ptr[i];
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
}
