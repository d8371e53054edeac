/* fuzz_fingerprint: any text is masked within its bound, the same way each time, and hashed. */
#include "fuzz.h"

#include "core/fingerprint.h"

enum { GROWTH_MAX = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct bytes type = bytes_cut(text, 0, size / 4), message = bytes_cut(text, size / 4, size);
    struct buf one, two;
    buf_init_heap(&one, size * GROWTH_MAX + 1);
    buf_init_heap(&two, size * GROWTH_MAX + 1);
    fingerprint_mask(text, &one);
    fingerprint_mask(text, &two);
    FUZZ_CHECK(!one.overflow && bytes_eq(buf_view(&one), buf_view(&two)));
    char digits[FINGERPRINT_TEXT_SIZE];
    uint64_t number = fingerprint_of(type, message, text), back;
    FUZZ_CHECK(fingerprint_parse(bytes_of(fingerprint_text(number, digits)), &back));
    FUZZ_CHECK(back == number);
    buf_free(&one);
    buf_free(&two);
    return 0;
}
