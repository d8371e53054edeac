/* Any bytes as a part of a URL: decoded to no more than it was, or refused. */
#include "fuzz.h"

#include "base/percent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct bytes out;
    arena_init_heap(&arena, 256);
    if (percent_decode(fuzz_text(data, size), &arena, &out))
        FUZZ_CHECK(out.len <= size);
    arena_free(&arena);
    return 0;
}
