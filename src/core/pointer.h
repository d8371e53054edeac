/* pointer: a message that only pointed at another one, which its broker has read instead
 * (docs/brokers.md), as its source tells. Where the message itself was is the source once it was
 * adopted; until then it is the member "origin", and the rest is about the pointer. There
 *   "gone"  says that it could not be read any more, and that there is no body
 *   "why"   says why; alone, why it may be another message than the one that died
 * Pure. */
#ifndef CORE_POINTER_H
#define CORE_POINTER_H

#include "core/envelope.h"

/* Where the message itself was, of one that is no pointer too: that is where it goes back to, and
 * whether it had a value there is what copies of it go by. Borrowed from the source. False: nothing
 * is said. */
bool pointer_origin(struct bytes source, struct json *out);
/* Whether the message was a Kafka record without a value: its body is empty, and its source says
 * so. An edit may have given it a body since. */
bool pointer_is_tombstone(struct bytes source, struct bytes body);
bool pointer_is_gone(struct bytes source);
bool pointer_is_doubtful(struct bytes source); /* it may be another one */
/* There is nothing that could be handed over. An edit may have given it a body since. */
static inline bool pointer_is_empty(const struct envelope *envelope) {
    return envelope->size == 0 && pointer_is_gone(envelope->source);
}
/* In words for people, of one that is gone or doubtful; in the arena. */
struct bytes pointer_why(struct bytes source, struct arena *arena);

#endif
