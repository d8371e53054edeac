#include "broker/nats/stream/nats_ack.h"

enum { TOKENS_MAX = 12, TOKENS_OLD = 9, TOKENS_NEW_LEAST = 11 };

/* More tokens than there is room for count as none. */
static size_t split(struct bytes text, struct bytes tokens[TOKENS_MAX]) {
    for (size_t count = 0; count < TOKENS_MAX;) {
        size_t end = bytes_find(text, BYTES("."));
        tokens[count++] = bytes_cut(text, 0, end);
        if (end == text.len)
            return count;
        text = bytes_cut(text, end + 1, text.len);
    }
    return 0;
}

bool nats_ack_parse(struct bytes reply, struct nats_ack *out) {
    enum { NS_PER_MS = 1000000 };
    struct bytes tokens[TOKENS_MAX];
    uint64_t consumer_sequence, stored_ns;
    size_t count = split(reply, tokens);
    if ((count != TOKENS_OLD && count < TOKENS_NEW_LEAST) || !bytes_is(tokens[0], "$JS") ||
        !bytes_is(tokens[1], "ACK"))
        return false;
    size_t at = count == TOKENS_OLD ? 2 : 4;
    out->domain = count == TOKENS_OLD || bytes_is(tokens[2], "_") ? BYTES("") : tokens[2];
    out->stream = tokens[at];
    out->consumer = tokens[at + 1];
    if (!bytes_u64(tokens[at + 2], &out->delivered) || !bytes_u64(tokens[at + 3], &out->sequence) ||
        !bytes_u64(tokens[at + 4], &consumer_sequence) || !bytes_u64(tokens[at + 5], &stored_ns) ||
        !bytes_u64(tokens[at + 6], &out->pending))
        return false;
    out->stored_at = (struct wall){(int64_t)(stored_ns / NS_PER_MS)};
    return out->stream.len > 0 && out->consumer.len > 0;
}
