/* spill_tail: see the header. */
#include "triage/archive/spill_tail.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"

static bool all_zero(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != 0)
            return false;
    return true;
}

/* Decompresses the frame through a small buffer; its checksum tells whether it is intact. */
static bool decodes(struct bytes frame) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    size_t room = ZSTD_DStreamOutSize();
    char *memory = memory_new(room);
    ZSTD_inBuffer in = {frame.ptr, frame.len, 0};
    size_t left = 1;
    while (left > 0 && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {memory, room, 0};
        left = ZSTD_decompressStream(context, &out, &in);
        if (left > 0 && in.pos == in.size && out.pos < out.size)
            break;
    }
    free(memory);
    ZSTD_freeDCtx(context);
    return left == 0;
}

/* A damaged length in the middle looks like an incomplete frame, but other frames follow it. */
static bool frames_follow(struct bytes rest) {
    static const struct bytes magic = {"\x28\xb5\x2f\xfd", 4};
    struct bytes behind = bytes_cut(rest, magic.len, rest.len);
    return bytes_find(behind, magic) < behind.len;
}

static enum spill_tail judge_rest(struct bytes rest, size_t code) {
    bool unfinished = ZSTD_getErrorCode(code) == ZSTD_error_srcSize_wrong && !frames_follow(rest);
    return unfinished || all_zero(rest) ? SPILL_TAIL_TORN : SPILL_TAIL_DAMAGED;
}

enum spill_tail spill_tail_check(struct bytes file, size_t *good) {
    for (*good = 0; *good < file.len;) {
        struct bytes rest = bytes_cut(file, *good, file.len);
        size_t len = ZSTD_findFrameCompressedSize(rest.ptr, rest.len);
        if (ZSTD_isError(len))
            return judge_rest(rest, len);
        if (rest.len <= SPILL_TAIL_VERIFIED && !decodes(bytes_cut(rest, 0, len)))
            return SPILL_TAIL_DAMAGED;
        *good += len;
    }
    return SPILL_TAIL_WHOLE;
}
