/* publish: something of an attempt on its way to a sink, which must have it before the attempt gets
 * on. A sink that does not take it is asked again, with ever longer waits; when the drain is over
 * it is given up. Trouble is told once when it begins and once when it is over. A letter or
 * an answer that is too large for its sink is so for ever: it is given up at once, and each letter
 * is told of. */
#ifndef ENGINE_PUBLISH_H
#define ENGINE_PUBLISH_H

#include "engine/state.h"

/* What happens next: `taken`, or it is given up; `err` says why it was not taken. */
typedef void publish_then(struct attempt *attempt, bool taken, const struct err *err);

/* One at a time for an attempt. What the item points at lives as long as the attempt. */
void publish_begin(struct attempt *attempt, struct sink *sink, enum publish_what what,
                   struct sink_item item, publish_then *then);
/* The same, but one that is not taken is `then`'s at once, which may try again in its own way. */
void publish_once(struct attempt *attempt, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then);
/* A letter's name in this round, the same in no other, with `end` behind it: a server that drops
 * what it has had before drops a second copy alone. */
struct bytes publish_round(struct attempt *attempt, const char *end);
/* Whether it was given up for what it is itself. */
bool publish_refused(enum publish_what what, const struct err *err);
/* Its sink has answered: what follows, or another try later. */
void publish_ended(struct engine *engine, struct attempt *attempt);
void publish_again(struct engine *engine); /* what a sink refused before, when its time has come */
struct mono publish_next(const struct engine *engine);
void publish_drop(struct attempt *attempt); /* it ends with something unpublished */
/* What waits for a sink that does not take it, and why, for people; nothing where nothing does. */
void publish_describe(const struct queue *queue, char *out, size_t size);

#endif
