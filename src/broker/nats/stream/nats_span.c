#include "broker/nats/stream/nats_span.h"

static bool read_number(struct json object, const char *name, uint64_t *out) {
    struct json member;
    return json_get(object, name, &member) && bytes_u64(member.text, out);
}

bool nats_span_of_stream(struct json info, struct nats_span *out) {
    struct json state;
    out->filter = BYTES(">");
    return json_get(info, "state", &state) && read_number(state, "first_seq", &out->next) &&
           read_number(state, "last_seq", &out->last);
}

void nats_span_for_consumer(struct json info, struct arena *arena, struct nats_span *span) {
    struct json member, config;
    struct bytes filter;
    uint64_t floor;
    if (json_get(info, "ack_floor", &member) && read_number(member, "stream_seq", &floor) &&
        floor >= span->next && floor < UINT64_MAX)
        span->next = floor + 1;
    if (json_get(info, "config", &config) && json_get(config, "filter_subject", &member) &&
        json_string(member, arena, &filter) && filter.len > 0)
        span->filter = arena_dup(arena, filter);
}
