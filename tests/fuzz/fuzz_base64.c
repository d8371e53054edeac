/* fuzz_base64: what is written is read back, and what was read stands in the alphabet. */
#include "fuzz.h"

#include "base/text/base64.h"
#include "base/json/json.h"

enum { QUOTES = 2 };

static struct bytes encoded(struct bytes data, struct buf *out) {
    struct json_out json = json_out(out);
    json_put_base64(&json, data);
    return bytes_cut(buf_view(out), 1, out->len - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct buf written, back;
    buf_init_heap(&written, size * 2 + 4 + QUOTES);
    buf_init_heap(&back, size + 1);
    FUZZ_CHECK(base64_decode(encoded(text, &written), &back));
    FUZZ_CHECK(bytes_eq(buf_view(&back), text));
    buf_clear(&written);
    buf_clear(&back);
    if (base64_decode(text, &back))
        FUZZ_CHECK(encoded(buf_view(&back), &written).len == text.len);
    buf_free(&written);
    buf_free(&back);
    return 0;
}
