/* Whatever a server says when it refuses: what is read of it is part of it. */
#include "fuzz.h"

#include "broker/rabbitmq/rabbit_limit.h"

static bool is_inside(struct bytes part, struct bytes whole) {
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes words = fuzz_text(data, size);
    struct rabbit_limit_argument argument;
    if (!rabbit_limit_read(words, &argument))
        return 0;
    FUZZ_CHECK(argument.name.len > 0 && is_inside(argument.name, words));
    FUZZ_CHECK(!argument.value.ptr || is_inside(argument.value, words));
    FUZZ_CHECK(!argument.type.ptr || is_inside(argument.type, words));
    return 0;
}
