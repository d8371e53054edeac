/* Any bytes as Accept-Encoding and If-None-Match: an answer, and the same one twice. */
#include "fuzz.h"

#include "server/dashboard/asset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct asset file = {.name = "app.js", .etag = "\"abc\""};
    struct bytes text = fuzz_text(data, size);
    struct asset_wish wish = asset_wish(&file, text, text), again = asset_wish(&file, text, text);
    FUZZ_CHECK(wish.takes_gzip == again.takes_gzip && wish.has_it == again.has_it);
    FUZZ_CHECK(size > 0 || (!wish.takes_gzip && !wish.has_it));
    return 0;
}
