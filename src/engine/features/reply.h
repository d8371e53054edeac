/* reply: what becomes of a successful answer (DESIGN §5): kept in the store by the very commit that
 * forgets its message, or published to a sink before that commit.
 *
 *   answered ──▶ published ──▶ judged, recorded, settled
 *                 │     ▲
 *                 └─ waits a little: the sink did not take it
 *
 * An answer that is too large, to be kept or for its sink, makes a failure of the success.
 *
 * A message whose answer a sink does not take is neither lost nor run again: it stays in the
 * engine's hands, with its slot of the concurrency, so a sink that is down holds its queue up. Our
 * own death meanwhile repeats the attempt. */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include "engine/state.h"

void reply_keep(struct attempt *attempt); /* its answer goes into the commit that forgets it */
/* Of a duplicate: the answer of the message that came first, if that is kept, is its own too. For
 * dedupe_ms where answers are no longer kept. */
void reply_copy(struct attempt *attempt, struct bytes first_id, int64_t dedupe_ms);
/* Whether a successful attempt's answer must be published first: then evaluate_rules follows when
 * the sink has it, or has refused it. */
bool reply_publishes(struct attempt *attempt);

#endif
