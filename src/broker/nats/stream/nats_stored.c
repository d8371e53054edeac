#include "broker/nats/stream/nats_stored.h"

#include "base/text/base64.h"
#include "base/text/content.h"
#include "broker/nats/stream/nats_headers.h"

enum { DATA_MAX = 128 * 1024 * 1024 }; /* more than a server can be configured to accept */

/* An empty field is like a missing one: the server leaves out empty fields. */
static bool read_data(struct json message, const char *name, struct arena *arena,
                      struct bytes *out) {
    struct json member;
    struct bytes text;
    struct buf data;
    *out = BYTES("");
    if (!json_get(message, name, &member))
        return true;
    buf_init_heap(&data, DATA_MAX);
    bool well = json_string(member, arena, &text) && base64_decode(text, &data);
    if (well)
        *out = arena_dup(arena, buf_view(&data));
    buf_free(&data);
    return well;
}

static bool read_facts(struct json message, struct arena *arena, struct nats_stored *out) {
    struct json subject, sequence, time;
    struct bytes name, at;
    if (!json_get(message, "subject", &subject) || !json_string(subject, arena, &name))
        return false;
    out->subject = arena_dup(arena, name); /* the answer may be freed before the message */
    return name.len > 0 && json_get(message, "seq", &sequence) &&
           bytes_u64(sequence.text, &out->sequence) && json_get(message, "time", &time) &&
           json_string(time, arena, &at) && wall_parse(at, &out->at);
}

struct message *nats_stored_read(struct json answer, struct nats_stored *out) {
    struct json message;
    struct bytes headers;
    if (!json_get(answer, "message", &message))
        return NULL;
    struct message *held = message_new();
    if (!read_facts(message, &held->arena, out) ||
        !read_data(message, "data", &held->arena, &held->body) ||
        !read_data(message, "hdrs", &held->arena, &headers)) {
        message_free(held);
        return NULL;
    }
    out->typed = nats_headers_read(headers, held);
    if (!held->envelope.content_type.ptr)
        held->envelope.content_type = content_looks(held->body);
    held->envelope.created_at = out->at;
    held->envelope.size = held->body.len;
    held->envelope.retry_after_ms = -1;
    return held;
}

/* ---- asking for one ---- */

enum { QUESTION_MAX = NATS_URL_NAME_MAX + 64, BODY_MAX = 6 * NATS_URL_SUBJECT_MAX + 64 };

static void write_body(const struct nats_fetch *fetch, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "seq");
    json_put_i64(&json, (int64_t)fetch->sequence);
    if (fetch->filter.len) {
        json_key(&json, "next_by_subj");
        json_put(&json, fetch->filter);
    }
    json_close(&json, '}');
}

enum status nats_stored_fetch(struct nats_connection *connection, const struct nats_fetch *fetch,
                              struct message **held, struct nats_stored *stored, struct err *err) {
    char question[QUESTION_MAX], body[BODY_MAX];
    struct buf text, request;
    struct arena arena;
    struct json answer;
    buf_init_fixed(&text, question, sizeof question);
    buf_printf(&text, "STREAM.MSG.GET.%.*s", BYTES_ARG(fetch->stream));
    buf_init_fixed(&request, body, sizeof body);
    write_body(fetch, &request);
    arena_init_heap(&arena, 4096);
    struct nats_question whole = {fetch->domain, buf_cstr(&text), buf_cstr(&request)};
    enum status status = nats_connection_ask(connection, &whole, &arena, &answer, err);
    if (status == STATUS_OK && !(*held = nats_stored_read(answer, stored)))
        status = nats_connection_odd(connection, err);
    arena_free(&arena);
    return status;
}
