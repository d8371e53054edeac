/* Any JSON as what JetStream has of a message, and as an advisory: refused, or within the limits
 * of an envelope and fit for a subject. */
#include "fuzz.h"

#include "broker/nats/stream/nats_advisory.h"
#include "broker/nats/stream/nats_stored.h"

static void check_stored(struct json answer) {
    struct nats_stored stored;
    struct message *held = nats_stored_read(answer, &stored);
    if (!held)
        return;
    FUZZ_CHECK(stored.subject.len > 0);
    FUZZ_CHECK(held->envelope.size == held->body.len);
    FUZZ_CHECK(held->envelope.header_count <= ENVELOPE_HEADERS_MAX);
    for (size_t i = 0; i < held->envelope.header_count; i++)
        FUZZ_CHECK(held->envelope.headers[i].name.len > 0);
    message_free(held);
}

static void check_advisory(struct json text) {
    struct arena arena;
    struct nats_advisory advisory;
    arena_init_heap(&arena, 512);
    if (nats_advisory_read(text, &arena, &advisory)) {
        FUZZ_CHECK(advisory.coordinates.sequence > 0);
        FUZZ_CHECK(bytes_find(advisory.coordinates.stream, BYTES(".")) ==
                   advisory.coordinates.stream.len);
        FUZZ_CHECK(bytes_find(advisory.domain, BYTES(".")) == advisory.domain.len);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct json json;
    if (json_parse(fuzz_text(data, size), &json, NULL) == STATUS_OK) {
        check_stored(json);
        check_advisory(json);
    }
    return 0;
}
