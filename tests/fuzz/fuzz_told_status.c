/* fuzz_told_status: a status that a message tells is a 429 or 5xx, and stands in the message. */
#include "fuzz.h"

#include <stdio.h>

#include "core/presets/told_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    char digits[16];
    int status = told_status(text);
    if (status == 0)
        return 0;
    FUZZ_CHECK(status == 429 || (status >= 500 && status <= 599));
    snprintf(digits, sizeof digits, "%d", status);
    FUZZ_CHECK(bytes_find(text, bytes_of(digits)) < text.len);
    return 0;
}
