/* fuzz_trace: every slice lies within the text; the tail keeps to its limits and keeps the
 * headline. */
#include "fuzz.h"

#include "core/trace/trace.h"

static bool within(struct bytes slice, struct bytes text) {
    return slice.len == 0 ||
           (slice.ptr >= text.ptr && slice.ptr + slice.len <= text.ptr + text.len);
}

static void check_trace(const struct trace *trace, struct bytes text) {
    FUZZ_CHECK(trace->error_type.len > 0 && within(trace->error_type, text));
    FUZZ_CHECK(within(trace->error_message, text) && within(trace->text, text));
    FUZZ_CHECK(trace->frame_count <= TRACE_FRAMES_MAX);
    for (size_t i = 0; i < trace->frame_count; i++)
        FUZZ_CHECK(within(trace->frames[i].function, text) && within(trace->frames[i].file, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct bytes tail = trace_tail(text);
    struct trace trace;
    FUZZ_CHECK(within(tail, text) && tail.len <= OUTCOME_STACK_MAX);
    if (!trace_find(text, &trace))
        return 0;
    check_trace(&trace, text);
    FUZZ_CHECK(within(bytes_cut(trace.error_type, 0, 1), tail));
    return 0;
}
