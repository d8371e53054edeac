/* frames: NDJSON as a sequence of zstd frames, one for each line, each with a checksum.
 *
 * A frame is independent: if one is damaged, those before and behind it are still read. Files that
 * other programs compressed, with many lines in a frame, are read too. */
#ifndef TRIAGE_ARCHIVE_FRAMES_H
#define TRIAGE_ARCHIVE_FRAMES_H

#include "base/buf.h"
#include "base/status.h"

#define FRAMES_TEXT_MAX ((size_t)256 * 1024 * 1024) /* decompressed bytes of one frame */

struct ZSTD_CCtx_s;
struct ZSTD_CCtx_s *frames_writer_new(void); /* never NULL; free with ZSTD_freeCCtx */
/* Appends the line and its \n as one frame. */
void frames_put(struct ZSTD_CCtx_s *writer, struct bytes line, struct buf *out);

/* Whether the file starts with zstd's magic number. */
bool frames_begin(struct bytes file);

struct frames {
    struct bytes rest;
    struct buf text; /* of the current frame */
    struct ZSTD_DCtx_s *reader;
};

enum frames_step {
    FRAMES_END,
    FRAMES_TEXT,    /* *text, until the next step */
    FRAMES_DAMAGED, /* one or more frames are lost; *why says how */
};

void frames_init(struct frames *frames, struct bytes file);
void frames_free(struct frames *frames);
enum frames_step frames_next(struct frames *frames, struct bytes *text, const char **why);

#endif
