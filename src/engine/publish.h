/* publish: a part of an attempt (answer or letter) on its way to a sink, which must take it before
 * the attempt continues. A publication that the sink does not take is repeated, with growing
 * backoff; when the drain is over it is given up. Trouble is logged once when it begins and once
 * when it is over. A letter or an answer that is too large for its sink always will be: it is given
 * up at once, and each such letter is logged. */
#ifndef ENGINE_PUBLISH_H
#define ENGINE_PUBLISH_H

#include "engine/state.h"

/* The next step: `taken`, or given up, in which case `err` has the reason. */
typedef void publish_then(struct attempt *attempt, bool taken, const struct err *err);

/* One publication at a time for an attempt. The data that the item points at must live as long as
 * the attempt. */
void publish_begin(struct attempt *attempt, struct sink *sink, enum publish_what what,
                   struct sink_item item, publish_then *then);
/* The same without retries: `then` is called at once when the item is not taken. */
void publish_once(struct attempt *attempt, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then);
/* A letter's id in this round, unique to the round, with `end` appended: a server that deduplicates
 * by id drops only a second copy of the same round. */
struct bytes publish_round(struct attempt *attempt, const char *end);
/* Whether it was given up because of the item itself. */
bool publish_refused(enum publish_what what, const struct err *err);
/* The sink has answered: calls `then`, or schedules another try. */
void publish_ended(struct engine *engine, struct attempt *attempt);
void publish_again(struct engine *engine); /* publishes again the items that are due for a retry */
struct mono publish_next(const struct engine *engine);
void publish_drop(struct attempt *attempt); /* the attempt ends with an unpublished item */
/* What waits for a sink that does not take it, and the reason, for display; empty if nothing waits.
 */
void publish_describe(const struct queue *queue, char *out, size_t size);

#endif
