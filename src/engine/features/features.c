/* Every feature of an attempt, in the order in which they are called (feature.h). */
#include "engine/feature.h"

extern const struct engine_feature suspect_feature;
extern const struct engine_feature refusal_feature;
extern const struct engine_feature flood_guard_feature;
extern const struct engine_feature stops_feature;
extern const struct engine_feature lease_feature;
extern const struct engine_feature compensation_feature;
extern const struct engine_feature tracing_feature;
extern const struct engine_feature call_batch_feature;
extern const struct engine_feature idempotency_feature;
extern const struct engine_feature reply_feature;
extern const struct engine_feature order_feature;
extern const struct engine_feature room_feature;
extern const struct engine_feature spilling_feature;
extern const struct engine_feature mirror_feature;
extern const struct engine_feature origin_feature;
extern const struct engine_feature removal_feature;

const struct engine_feature *const engine_features[] = {
    &suspect_feature,      /* a message that may have crashed the process runs alone */
    &refusal_feature,      /* another message is tried before a refusal halts the queue */
    &flood_guard_feature,  /* many first attempts that suddenly die of one failure halt the queue */
    &stops_feature,        /* redeliveries after our own graceful stops do not count */
    &lease_feature,        /* workers fetch messages instead of a handler */
    &compensation_feature, /* a letter's half-done work is undone by another handler */
    &tracing_feature,      /* spans */
    &call_batch_feature,   /* several messages in one call */
    &idempotency_feature,  /* a key that succeeded is not run again */
    &reply_feature,        /* a successful answer is kept, or published first */
    &order_feature,        /* a dead letter closes its key */
    &room_feature,         /* a full DLQ that blocks */
    &spilling_feature,     /* a full DLQ that spills into the archive */
    &mirror_feature,       /* a letter is also published to a broker's DLQ */
    &origin_feature,       /* a letter that was sent to its origin comes back */
    &removal_feature,      /* a person buries, discards or retries a waiting message */
    NULL,
};
