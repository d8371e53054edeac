/* spill_tail: how an existing spill file ends, before anything is appended to it.
 *
 * A file is a row of zstd frames. A crash may leave the last one unfinished, or zeroes where it was
 * to be: such a tail was never synced, so its letters were never settled, and it is cut off. Any
 * other damage is none of a crash's doing: that file is left as it is and not appended to. */
#ifndef TRIAGE_SPILL_TAIL_H
#define TRIAGE_SPILL_TAIL_H

#include "base/bytes.h"

enum spill_tail {
    SPILL_TAIL_WHOLE,
    SPILL_TAIL_TORN,    /* cut it to `good` bytes */
    SPILL_TAIL_DAMAGED, /* leave it alone */
};

/* Every frame's outline is walked; the contents of those in the last SPILL_TAIL_VERIFIED bytes are
 * checked too. */
enum spill_tail spill_tail_check(struct bytes file, size_t *good);

#define SPILL_TAIL_VERIFIED ((size_t)64 * 1024 * 1024)

#endif
