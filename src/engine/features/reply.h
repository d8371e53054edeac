/* reply: where a successful answer goes (DESIGN §5): it is kept in the store by the same commit
 * that forgets its message, or published to a sink before that commit.
 *
 *   answered ──▶ published ──▶ judged, recorded, settled
 *                 │     ▲
 *                 └─ backs off: the sink did not take it
 *
 * An answer that is too large to be kept, or for its sink, turns the success into a failure.
 *
 * A message whose answer is not taken by the sink is neither lost nor run again: it stays in
 * flight, with its slot of the concurrency, so a sink that is down blocks its queue. After a crash
 * meanwhile the attempt is repeated. */
#ifndef ENGINE_REPLY_H
#define ENGINE_REPLY_H

#include "engine/state.h"

/* Puts the answer into the commit that forgets the message. */
void reply_keep(struct attempt *attempt);
/* For a duplicate: copies the answer of the first message, if it is still kept. The copy is kept
 * for dedupe_ms if the queue no longer keeps answers. */
void reply_copy(struct attempt *attempt, struct bytes first_id, int64_t dedupe_ms);
/* Whether a successful attempt's answer must be published first: if so, evaluate_rules follows when
 * the sink has taken or refused it. */
bool reply_publishes(struct attempt *attempt);

#endif
