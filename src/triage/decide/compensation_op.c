#include "triage/decide/compensation_op.h"

#include <assert.h>

#include "core/lifecycle.h"

struct store_op compensate_op(struct message *held, uint32_t queue, struct bytes why,
                              struct wall now) {
    assert(held->seq != 0);
    struct envelope *envelope = &held->envelope;
    if (envelope->state == STATE_PENDING_REVIEW) /* otherwise the store skips it: see `from` */
        lifecycle_replay(envelope, now);
    envelope->compensating = 1;
    envelope->why = why;
    return (struct store_op){.kind = STORE_UPDATE,
                             .queue = queue,
                             .seq = held->seq,
                             .envelope = envelope,
                             .from = 1u << STATE_PENDING_REVIEW};
}
