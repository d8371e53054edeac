/* Any bytes as a traceparent: one that is read is written to a text that reads the same, and names
 * somebody. */
#include "fuzz.h"

#include <string.h>

#include "base/text/traceparent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct traceparent none;
    struct traceparent parent, back;
    char text[TRACEPARENT_TEXT_SIZE];
    if (!traceparent_parse(fuzz_text(data, size), &parent))
        return 0;
    FUZZ_CHECK(memcmp(parent.trace_id, none.trace_id, TRACE_ID_SIZE) != 0);
    FUZZ_CHECK(memcmp(parent.span_id, none.span_id, SPAN_ID_SIZE) != 0);
    FUZZ_CHECK(traceparent_parse(bytes_of(traceparent_text(&parent, text)), &back));
    FUZZ_CHECK(memcmp(&parent, &back, sizeof back) == 0);
    return 0;
}
