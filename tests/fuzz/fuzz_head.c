/* Any bytes as a request's head: what is refused stays refused however much more comes. */
#include "fuzz.h"

#include "server/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes seen = fuzz_text(data, size);
    struct err err;
    bool whole, half_whole;
    enum status status = head_check(seen, &whole, &err);
    enum status half = head_check(bytes_cut(seen, 0, size / 2), &half_whole, &err);
    FUZZ_CHECK(half == STATUS_OK || half == status);
    FUZZ_CHECK(!half_whole || (whole && half == status));
    return 0;
}
