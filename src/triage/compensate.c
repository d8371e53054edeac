#include "triage/compensate.h"

struct store_op compensate_op(struct message *held, uint32_t queue, struct bytes why,
                              struct wall now) {
    struct envelope *envelope = &held->envelope;
    envelope->state = STATE_REPLAYING;
    envelope->compensating = 1;
    envelope->next_attempt_at = now;
    envelope->delay_ms = 0;
    envelope->why = why;
    return (struct store_op){.kind = STORE_UPDATE,
                             .queue = queue,
                             .seq = held->seq,
                             .envelope = envelope,
                             .from = 1u << STATE_PENDING_REVIEW};
}
