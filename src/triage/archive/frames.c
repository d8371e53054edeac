/* frames: see the header. */
#include "triage/archive/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory.h"

enum { COMPRESSION_LEVEL = 3, WINDOW_LOG_MAX = 23 }; /* 8 MiB, what zstd -19 asks for */

static const struct bytes magic = {"\x28\xb5\x2f\xfd", 4};

/* ---- writing ---- */

struct ZSTD_CCtx_s *frames_writer_new(void) {
    ZSTD_CCtx *writer = ZSTD_createCCtx();
    if (!writer)
        abort();
    ZSTD_CCtx_setParameter(writer, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    ZSTD_CCtx_setParameter(writer, ZSTD_c_checksumFlag, 1);
    return writer;
}

void frames_put(struct ZSTD_CCtx_s *writer, struct bytes line, struct buf *out) {
    size_t room = ZSTD_compressBound(line.len + 1);
    char *text = memory_new(line.len + 1), *frame = memory_new(room);
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\n';
    size_t len = ZSTD_compress2(writer, frame, room, text, line.len + 1);
    assert(!ZSTD_isError(len));
    buf_put(out, frame, len);
    free(text);
    free(frame);
}

/* ---- reading ---- */

bool frames_begin(struct bytes file) {
    return bytes_starts(file, magic);
}

void frames_init(struct frames *frames, struct bytes file) {
    *frames = (struct frames){.rest = file, .reader = ZSTD_createDCtx()};
    if (!frames->reader)
        abort();
    ZSTD_DCtx_setParameter(frames->reader, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    buf_init_heap(&frames->text, FRAMES_TEXT_MAX);
}

void frames_free(struct frames *frames) {
    ZSTD_freeDCtx(frames->reader);
    buf_free(&frames->text);
}

/* NULL: the frame's text is in *out, and its checksum is right. Otherwise the error. */
static const char *decompress(ZSTD_DCtx *reader, struct bytes frame, struct buf *out) {
    ZSTD_inBuffer in = {frame.ptr, frame.len, 0};
    unsigned long long told = ZSTD_getFrameContentSize(frame.ptr, frame.len);
    size_t room = ZSTD_DStreamOutSize(), left = 1;
    if (told < room) /* nearly every letter is smaller; zstd's errors are huge numbers */
        room = (size_t)told + 1;
    buf_clear(out);
    ZSTD_DCtx_reset(reader, ZSTD_reset_session_only);
    while (left > 0) {
        char *memory = buf_room(out, room);
        if (!memory)
            return "the frame is too large; decompress the file with zstd -d first";
        ZSTD_outBuffer to = {memory, room, 0};
        left = ZSTD_decompressStream(reader, &to, &in);
        if (ZSTD_isError(left))
            return ZSTD_getErrorName(left);
        out->len -= room - to.pos;
        if (left > 0 && in.pos == in.size && to.pos < to.size)
            return "the frame is truncated";
    }
    return in.pos == in.size ? NULL : "the frame has trailing data";
}

/* The start of the next intact frame after a damaged one. A length may be what is damaged, so the
 * checksum is tried at every magic number. */
static size_t next_whole(ZSTD_DCtx *reader, struct bytes file, struct buf *scratch) {
    for (size_t at = magic.len; at < file.len; at += magic.len) {
        at += bytes_find(bytes_cut(file, at, file.len), magic);
        struct bytes rest = bytes_cut(file, at, file.len);
        size_t len = ZSTD_findFrameCompressedSize(rest.ptr, rest.len);
        if (!ZSTD_isError(len) && !decompress(reader, bytes_cut(rest, 0, len), scratch))
            return at;
    }
    return file.len;
}

enum frames_step frames_next(struct frames *frames, struct bytes *text, const char **why) {
    struct bytes file = frames->rest;
    if (file.len == 0)
        return FRAMES_END;
    size_t len = ZSTD_findFrameCompressedSize(file.ptr, file.len);
    *why = ZSTD_isError(len) ? ZSTD_getErrorName(len)
                             : decompress(frames->reader, bytes_cut(file, 0, len), &frames->text);
    if (*why)
        len = next_whole(frames->reader, file, &frames->text);
    frames->rest = bytes_cut(file, len, file.len);
    *text = buf_view(&frames->text);
    return *why ? FRAMES_DAMAGED : FRAMES_TEXT;
}
