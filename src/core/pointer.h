/* pointer: a message that only pointed at another one, which its broker could not read any more
 * (docs/brokers.md). It has no body, and its source says so: "gone" stands in the source itself
 * once it was adopted, else in its member "origin". Pure. */
#ifndef CORE_POINTER_H
#define CORE_POINTER_H

#include "core/envelope.h"

/* Of an envelope's source. */
bool pointer_is_gone(struct bytes source);
/* There is nothing that could be handed over. An edit may have given it a body since. */
static inline bool pointer_is_empty(const struct envelope *envelope) {
    return envelope->size == 0 && pointer_is_gone(envelope->source);
}
/* In words for people, of one that is gone; in the arena. */
struct bytes pointer_why(struct bytes source, struct arena *arena);

#endif
