#include "broker/nats/nats_fetch.h"

#include <inttypes.h>

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

enum status nats_fetch(struct nats_connection *connection, const struct nats_fetch *fetch,
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
