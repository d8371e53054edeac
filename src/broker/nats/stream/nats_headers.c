#include "broker/nats/stream/nats_headers.h"

#include <string.h>

#include "core/comeback.h"

enum { ROOM_FIRST = 8 };

struct nats_headers nats_headers(struct message *held) {
    return (struct nats_headers){.held = held};
}

static void make_room(struct nats_headers *headers, size_t count) {
    if (count < headers->room)
        return;
    size_t room = headers->room ? headers->room * 2 : ROOM_FIRST;
    struct rule_header *out = arena_alloc(&headers->held->arena, room * sizeof *out);
    if (count)
        memcpy(out, headers->out, count * sizeof *out);
    headers->out = out;
    headers->room = room;
}

void nats_headers_add(struct nats_headers *headers, struct bytes name, struct bytes value) {
    struct envelope *envelope = &headers->held->envelope;
    struct arena *arena = &headers->held->arena;
    bool is_key = bytes_is(name, NATS_HEADERS_KEY);
    if (is_key || bytes_eq_nocase(name, BYTES("Content-Type"))) {
        struct bytes *text = is_key ? &envelope->key : &envelope->content_type;
        if (text->ptr)
            return;
        *text = arena_dup(arena, value);
        if (!is_key)
            headers->typed = arena_dup(arena, name);
        return;
    }
    if (envelope->header_count == ENVELOPE_HEADERS_MAX)
        return;
    make_room(headers, envelope->header_count);
    headers->out[envelope->header_count++] =
        (struct rule_header){arena_dup(arena, name), arena_dup(arena, value)};
    envelope->headers = headers->out;
}

/* The header that a letter was sent with, by which the server recognises a second copy. */
static bool is_ours(struct bytes name) {
    return bytes_eq_nocase(name, BYTES("Nats-Msg-Id"));
}

static bool comes_back(const struct envelope *envelope) {
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_is(envelope->headers[i].name, COMEBACK_LETTER))
            return true;
    return false;
}

void nats_headers_end(struct nats_headers *headers) {
    struct envelope *envelope = &headers->held->envelope;
    size_t kept = 0;
    if (!comes_back(envelope))
        return;
    for (size_t i = 0; i < envelope->header_count; i++)
        if (!is_ours(headers->out[i].name))
            headers->out[kept++] = headers->out[i];
    envelope->header_count = kept;
}

struct bytes nats_headers_read(struct bytes block, struct message *held) {
    struct nats_headers headers = nats_headers(held);
    struct bytes line;
    if (!bytes_line(&block, &line) || !bytes_starts(line, BYTES("NATS/")))
        return BYTES_NONE;
    while (bytes_line(&block, &line)) {
        size_t colon = bytes_find(line, BYTES(":"));
        if (colon > 0 && colon < line.len)
            nats_headers_add(&headers, bytes_cut(line, 0, colon),
                             bytes_trim(bytes_cut(line, colon + 1, line.len)));
    }
    nats_headers_end(&headers);
    return headers.typed;
}
