#include "broker/nats/stream/nats_pointer.h"

#include "broker/nats/stream/nats_advisory.h"
#include "broker/nats/stream/nats_stored.h"

enum { ADVISORY_MAX = 64 * 1024, SOURCE_MAX = 3 * ADVISORY_MAX };

/* The source as it was, with more in it. */
static void lengthen_source(struct message *held, const struct nats_coordinates *origin,
                            struct bytes advisory) {
    struct bytes source = held->envelope.source;
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    buf_bytes(&text, bytes_cut(source, 0, source.len - 1));
    struct json_out out = {&text, true};
    json_key(&out, "origin");
    json_open(&out, '{');
    nats_coordinates_put(origin, &out);
    if (!origin->subject.len) {
        json_key(&out, "gone");
        json_put_bool(&out, true);
    }
    json_close(&out, '}');
    json_key(&out, "advisory");
    json_put_raw(&out, advisory);
    json_close(&out, '}');
    held->envelope.source = arena_dup(&held->arena, buf_view(&text));
    buf_free(&text);
}

/* The properties of the message replace those of the advisory. */
static void become(struct message *held, const struct message *original) {
    struct arena *arena = &held->arena;
    struct envelope *to = &held->envelope;
    const struct envelope *from = &original->envelope;
    struct rule_header *headers = arena_alloc(arena, from->header_count * sizeof *headers + 1);
    for (size_t i = 0; i < from->header_count; i++)
        headers[i] = (struct rule_header){arena_dup(arena, from->headers[i].name),
                                          arena_dup(arena, from->headers[i].value)};
    to->headers = headers;
    to->header_count = from->header_count;
    to->key = from->key.ptr ? arena_dup(arena, from->key) : BYTES_NONE;
    to->content_type = arena_dup(arena, from->content_type);
    to->created_at = from->created_at;
    to->size = original->body.len;
    held->body = arena_dup(arena, original->body);
}

static void be_gone(struct message *held) {
    held->envelope.headers = NULL;
    held->envelope.header_count = 0;
    held->envelope.content_type = BYTES("application/octet-stream");
    held->envelope.size = 0;
    held->body = BYTES("");
}

static bool follow(struct nats_connection *connection, struct json text,
                   struct nats_advisory *advisory, struct message *held, struct err *err) {
    struct nats_fetch fetch = {.domain = advisory->domain.len ? advisory->domain
                                                              : connection->url->domain,
                               .stream = advisory->coordinates.stream,
                               .sequence = advisory->coordinates.sequence};
    struct nats_stored stored = {.subject = BYTES("")};
    struct message *original = NULL;
    enum status status = nats_stored_fetch(connection, &fetch, &original, &stored, err);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return false;
    advisory->coordinates.subject = stored.subject;
    advisory->coordinates.typed = stored.typed;
    lengthen_source(held, &advisory->coordinates, text.text);
    if (original)
        become(held, original);
    else
        be_gone(held);
    message_free(original);
    return true;
}

bool nats_pointer_follow(struct nats_connection *connection, struct bytes subject,
                         struct message *held, struct err *err) {
    struct nats_advisory advisory;
    struct json text;
    if (!nats_advisory_is(subject) || held->body.len > ADVISORY_MAX ||
        json_parse(held->body, &text, NULL) != STATUS_OK ||
        !nats_advisory_read(text, &held->arena, &advisory))
        return true;
    return follow(connection, text, &advisory, held, err);
}
