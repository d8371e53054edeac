/* pointer: a message that only points to another one, which the broker adapter read instead
 * (docs/brokers.md). Its source says so. Before adoption the coordinates of the message itself are
 * in the member "origin", and the rest is about the pointer; afterwards they are the source itself.
 * There
 *   "gone"  means that the message could not be read any more, and has no body
 *   "why"   is the reason; without "gone", why it may be another message than the one that died
 * Pure. */
#ifndef CORE_POINTER_H
#define CORE_POINTER_H

#include "core/envelope/envelope.h"

/* The coordinates of the message itself, also if it is not a pointer: where it is sent back to.
 * Borrowed from the source. False: there are none. */
bool pointer_origin(struct bytes source, struct json *out);
/* Whether the message was a Kafka record without a value (tombstone): its body is empty, and its
 * source says so. An edit may have added a body. */
bool pointer_is_tombstone(struct bytes source, struct bytes body);
bool pointer_is_gone(struct bytes source);
bool pointer_is_doubtful(struct bytes source); /* it may be another message */
/* The message has no body to hand over. An edit may have added one. */
static inline bool pointer_is_empty(const struct envelope *envelope) {
    return envelope->size == 0 && pointer_is_gone(envelope->source);
}
/* The reason, for people, for one that is gone or doubtful; in the arena. */
struct bytes pointer_why(struct bytes source, struct arena *arena);

#endif
