#include "broker/nats/stream/nats_coordinates.h"

#include <inttypes.h>

#include "broker/nats/nats_url.h"

enum { ID_SIZE = NATS_URL_NAME_MAX + 32, SOURCE_MAX = 64 * 1024 };

static void put_text(struct json_out *out, const char *key, struct bytes text) {
    if (!text.len)
        return;
    json_key(out, key);
    json_put(out, text);
}

void nats_coordinates_put(const struct nats_coordinates *coordinates, struct json_out *out) {
    put_text(out, "kind", BYTES("nats"));
    put_text(out, "stream", coordinates->stream);
    put_text(out, "consumer", coordinates->consumer);
    put_text(out, "subject", coordinates->subject);
    put_text(out, NATS_COORDINATES_TYPED, coordinates->typed);
    json_key(out, "sequence");
    json_put_i64(out, (int64_t)coordinates->sequence);
    if (!coordinates->delivered)
        return;
    json_key(out, "delivered");
    json_put_i64(out, (int64_t)coordinates->delivered);
}

static struct bytes source_of(const struct nats_coordinates *coordinates, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, SOURCE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    nats_coordinates_put(coordinates, &out);
    json_close(&out, '}');
    struct bytes source = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return source;
}

void nats_coordinates_name(const struct nats_coordinates *coordinates, struct message *held) {
    char text[ID_SIZE];
    struct buf id;
    buf_init_fixed(&id, text, sizeof text);
    buf_printf(&id, "%.*s:%" PRIu64, BYTES_ARG(coordinates->stream), coordinates->sequence);
    held->envelope.id = arena_dup(&held->arena, buf_view(&id));
    held->envelope.source = source_of(coordinates, &held->arena);
}
