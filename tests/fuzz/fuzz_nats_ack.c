/* Any text as the reply subject of a JetStream message: refused, or its parts are parts of it. */
#include "fuzz.h"

#include "broker/nats/stream/nats_ack.h"

static bool is_within(struct bytes part, struct bytes whole) {
    return part.len == 0 || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct nats_ack ack;
    if (!nats_ack_parse(text, &ack))
        return 0;
    FUZZ_CHECK(bytes_starts(text, BYTES("$JS.ACK.")));
    FUZZ_CHECK(ack.stream.len > 0 && is_within(ack.stream, text));
    FUZZ_CHECK(ack.consumer.len > 0 && is_within(ack.consumer, text));
    FUZZ_CHECK(is_within(ack.domain, text));
    FUZZ_CHECK(bytes_find(ack.stream, BYTES(".")) == ack.stream.len);
    return 0;
}
