/* fingerprint: hashes error type, masked message and in-app frames. */
#include "core/fingerprint.h"

#include <assert.h>
#include <string.h>

enum {
    FRAME_TEXT_MAX = 255, /* bytes of a function or file name that are hashed */
    MASK_GROWTH = 3,      /* a masked text is at most this many times as long */
    SCRATCH_SIZE = OUTCOME_MESSAGE_MAX * MASK_GROWTH,
};

/* Each piece is hashed separately, so that "ab" + "c" and "a" + "bc" differ. The byte order is
 * fixed: the number is stored and must be the same on every machine. */
static uint64_t mix(uint64_t so_far, uint64_t piece) {
    char both[16];
    for (size_t i = 0; i < 8; i++) {
        both[i] = (char)(so_far >> (8 * i));
        both[8 + i] = (char)(piece >> (8 * i));
    }
    return bytes_hash((struct bytes){both, sizeof both});
}

static uint64_t mix_masked(uint64_t so_far, struct bytes text) {
    char memory[SCRATCH_SIZE];
    struct buf masked;
    assert(text.len <= OUTCOME_MESSAGE_MAX);
    buf_init_fixed(&masked, memory, sizeof memory);
    fingerprint_mask(text, &masked);
    assert(!masked.overflow);
    return mix(so_far, bytes_hash(buf_view(&masked)));
}

static uint64_t mix_frames(uint64_t so_far, struct bytes stack_trace) {
    struct trace trace;
    if (!trace_find(stack_trace, &trace))
        return so_far;
    size_t used = 0;
    for (size_t i = 0; i < trace.frame_count && used < FINGERPRINT_FRAMES; i++) {
        const struct trace_frame *frame = &trace.frames[i];
        if (!frame->in_app)
            continue;
        so_far = mix_masked(so_far, bytes_clip(frame->function, FRAME_TEXT_MAX));
        so_far = mix_masked(so_far, bytes_clip(frame->file, FRAME_TEXT_MAX));
        used++;
    }
    return so_far;
}

uint64_t fingerprint_of(struct bytes error_type, struct bytes error_message,
                        struct bytes stack_trace) {
    uint64_t hash = mix(FINGERPRINT_VERSION, bytes_hash(bytes_clip(error_type, OUTCOME_TYPE_MAX)));
    hash = mix_masked(hash, bytes_clip(error_message, OUTCOME_MESSAGE_MAX));
    return mix_frames(hash, stack_trace);
}

static const char digits[] = "0123456789abcdef";

const char *fingerprint_text(uint64_t fingerprint, char text[FINGERPRINT_TEXT_SIZE]) {
    for (size_t i = 0; i < FINGERPRINT_TEXT_SIZE - 1; i++)
        text[i] = digits[fingerprint >> (60 - 4 * i) & 15];
    text[FINGERPRINT_TEXT_SIZE - 1] = '\0';
    return text;
}

bool fingerprint_parse(struct bytes text, uint64_t *out) {
    uint64_t value = 0;
    if (text.len != FINGERPRINT_TEXT_SIZE - 1)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(digits, text.ptr[i], sizeof digits - 1);
        if (!digit)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *out = value;
    return true;
}
