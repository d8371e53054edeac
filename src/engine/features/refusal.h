/* refusal: messages whose hand-over ended in `halt`, and the check before their queue halts
 * (SEMANTICS 4.7). core/outage/second_opinion.h has the states; this file carries them out.
 *
 * A refused message is stored with the mark `refused`, uncounted. While it has the mark it waits in
 * the store without a due time, and its number stands in queue->refused; a restart finds it when it
 * is taken in its turn. It is handed over again
 *   - when another message has succeeded since the last refusal (it is then `confirming`), or
 *   - when no other message of its queue may be handed over.
 * Any other outcome than a refusal or an interruption takes the mark away. */
#ifndef ENGINE_REFUSAL_H
#define ENGINE_REFUSAL_H

#include "base/json/json.h"
#include "engine/state.h"

/* The hand-over ended: what it says about a check that is under way. */
void refusal_ended(struct attempt *attempt, const struct decision *decision);
/* Sets or takes away the mark; begins a check, or halts the queue. Before the commit. */
void refusal_judged(struct attempt *attempt, const struct decision *decision);
/* The commit of a refused message is durable. */
void refusal_settled(const struct attempt *attempt);
void refusal_forget(const struct attempt *attempt); /* the attempt is about to be freed */
void refusal_resume(struct queue *queue);
/* Refused messages that were dead-lettered, in the facts that outlive a restart. */
void refusal_put(const struct queue *queue, struct json_out *json);
void refusal_load(struct queue *queue, struct json facts);

/* True: it was refused, and waits for its turn. Takes it. */
bool refusal_sets_aside(struct queue *queue, struct message *held);
/* The steps of a check. False: nothing else may be handed over. */
bool refusal_feed(struct queue *queue);
/* Hands a refused message over, once another has succeeded. */
void refusal_feed_proven(struct queue *queue);
/* Hands a refused message over, where there is no other. */
void refusal_feed_last(struct queue *queue);
/* Hands a refused message over as a breaker's probe, where there is no other. */
void refusal_probe(struct queue *queue);
/* While the queue may hand over nothing at all. */
void refusal_hold(struct queue *queue);
/* When a check, or a refused message, is to be looked at again. */
struct mono refusal_next_wake(struct queue *queue);

#endif
