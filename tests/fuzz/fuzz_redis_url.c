/* Any text as a Redis URL: refused with words, or taken apart into parts that can be used. */
#include "fuzz.h"

#include "broker/redis/redis_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct redis_url url;
    struct err err = {STATUS_OK, ""};
    arena_init_heap(&arena, 256);
    if (redis_url_sink(fuzz_text(data, size), &arena, &url, &err) == STATUS_OK) {
        FUZZ_CHECK(url.host.len > 0 && url.port > 0 && url.database <= REDIS_URL_DATABASE_MAX);
        FUZZ_CHECK(url.list.len || url.stream.len ||
                   bytes_find(url.key, BYTES(REDIS_URL_ID)) < url.key.len);
        FUZZ_CHECK(url.ttl_ms >= 0);
    } else {
        FUZZ_CHECK(err.text[0] != '\0');
    }
    arena_free(&arena);
    return 0;
}
