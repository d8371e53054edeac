/* Any bytes as the environment's list of headers: refused, or headers that can be sent. */
#include "fuzz.h"

#include "config/config.h"
#include "config/config_headers.h"
#include "base/text/http_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct rule_header *headers;
    size_t count;
    arena_init_heap(&arena, 4096);
    bool good = config_headers_parse_list(fuzz_text(data, size), &arena, &headers, &count);
    FUZZ_CHECK(count <= CONFIG_HEADERS_MAX);
    for (size_t i = 0; good && i < count; i++)
        FUZZ_CHECK(http_field_is_name(headers[i].name) && http_field_is_value(headers[i].value));
    arena_free(&arena);
    return 0;
}
