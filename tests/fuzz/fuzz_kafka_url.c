/* Any text as a Kafka URL: refused with words, or taken apart into parts that can be used. */
#include "fuzz.h"

#include "broker/kafka/kafka_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct kafka_url url;
    struct err err = {STATUS_OK, ""};
    arena_init_heap(&arena, 256);
    if (kafka_url_source(fuzz_text(data, size), &arena, &url, &err) == STATUS_OK) {
        FUZZ_CHECK(url.servers.len > 0 && url.group.len > 0);
        FUZZ_CHECK(url.topic.len > 0 && url.topic.len <= KAFKA_URL_TOPIC_MAX);
        FUZZ_CHECK(!url.user.ptr == !url.password.ptr && (url.tls || url.ca_file.len == 0));
        FUZZ_CHECK(url.session_ms >= KAFKA_URL_SESSION_LEAST_MS);
    } else {
        FUZZ_CHECK(err.text[0] != '\0');
    }
    arena_free(&arena);
    return 0;
}
