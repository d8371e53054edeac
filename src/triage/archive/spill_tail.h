/* spill_tail: checks the end of an existing spill file before anything is appended.
 *
 * A file is a sequence of zstd frames. A crash may leave the last one incomplete, or zeroes in its
 * place: such a tail was never synced, so its letters were never acknowledged, and it is cut off.
 * Any other damage does not come from a crash: that file is left unchanged and not appended to. */
#ifndef TRIAGE_ARCHIVE_SPILL_TAIL_H
#define TRIAGE_ARCHIVE_SPILL_TAIL_H

#include "base/bytes.h"

enum spill_tail {
    SPILL_TAIL_WHOLE,
    SPILL_TAIL_TORN,    /* truncate it to `good` bytes */
    SPILL_TAIL_DAMAGED, /* do not append to it */
};

/* Walks all frame headers, and verifies the content of the frames in the last SPILL_TAIL_VERIFIED
 * bytes. */
enum spill_tail spill_tail_check(struct bytes file, size_t *good);

#define SPILL_TAIL_VERIFIED ((size_t)64 * 1024 * 1024)

#endif
