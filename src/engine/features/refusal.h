/* refusal: messages whose hand-over ended in `halt`, and the check before their queue halts
 * (SEMANTICS 4.7). core/outage/second_opinion.h has the states; this file carries them out.
 *
 * A refused message is stored with the mark `refused`, uncounted. While it has the mark it waits in
 * the store without a due time, and its number is in queue->refused; after a restart the mark is
 * found when the message is taken in its turn. It is handed over again
 *   - when another message has succeeded since the last refusal (it is then `confirming`), or
 *   - when no other message of its queue may be handed over.
 * Any outcome other than a refusal or an interruption removes the mark. */
#ifndef ENGINE_REFUSAL_H
#define ENGINE_REFUSAL_H

#include "base/json/json.h"
#include "engine/state.h"

/* The hand-over ended: updates a check that is under way. */
void refusal_ended(struct attempt *attempt, const struct decision *decision);
/* Sets or removes the mark; begins a check, or halts the queue. To be called before the commit. */
void refusal_judged(struct attempt *attempt, const struct decision *decision);
/* The commit of a refused message is durable. */
void refusal_settled(const struct attempt *attempt);
void refusal_forget(const struct attempt *attempt); /* the attempt is about to be freed */
void refusal_resume(struct queue *queue);
/* Writes the refused messages that were dead-lettered into the facts that survive a restart. */
void refusal_put(const struct queue *queue, struct json_out *json);
void refusal_load(struct queue *queue, struct json facts);

/* True: the message was refused and waits for its turn; this call took ownership of it. */
bool refusal_sets_aside(struct queue *queue, struct message *held);
/* The steps of a check. False: no other message may be handed over. */
bool refusal_feed(struct queue *queue);
/* Hands over a refused message, after another message has succeeded. */
void refusal_feed_proven(struct queue *queue);
/* Hands over a refused message, if the queue has no other. */
void refusal_feed_last(struct queue *queue);
/* Hands over a refused message as a breaker's probe, if the queue has no other. */
void refusal_probe(struct queue *queue);
/* To be called while the queue may hand over nothing at all. */
void refusal_hold(struct queue *queue);
/* When a check or a refused message is due next. */
struct mono refusal_next_wake(struct queue *queue);

#endif
