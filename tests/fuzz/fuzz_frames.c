/* Whatever is read as zstd: it ends, and every step goes on behind the one before. */
#include "fuzz.h"

#include "triage/archive/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct frames frames;
    struct bytes text;
    const char *why = NULL;
    size_t left = size;
    enum frames_step step;
    frames_init(&frames, fuzz_text(data, size));
    while ((step = frames_next(&frames, &text, &why)) != FRAMES_END) {
        FUZZ_CHECK(frames.rest.len < left);
        FUZZ_CHECK(step == FRAMES_TEXT || (why && why[0]));
        left = frames.rest.len;
    }
    FUZZ_CHECK(left == 0);
    frames_free(&frames);
    return 0;
}
