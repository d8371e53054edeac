/* Any bytes as a receiver's answer: read as a count and a text that ends, or as nothing. */
#include "fuzz.h"

#include <string.h>

#include "telemetry/otlp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct otlp_answer answer;
    otlp_read_answer(fuzz_text(data, size), &answer);
    FUZZ_CHECK(answer.rejected <= INT64_MAX);
    FUZZ_CHECK(strnlen(answer.text, sizeof answer.text) < sizeof answer.text);
    return 0;
}
