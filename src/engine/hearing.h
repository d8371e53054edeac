/* hearing: what a source has heard of its messages without a name.
 *
 * Nothing tells such a message from its equals. One that comes again after our death is the one
 * that the store holds, if its source never heard that this one was settled; else it is another:
 *
 *   put into the store ──▶ settled ──▶ the source has heard ──▶ noted in the queue's facts
 *   └──────── stands in for one that comes in the next life ───┘ stands in for none
 *
 * In the life that put it there its adapter knows it for as long as that matters. The engine's own.
 */
#ifndef ENGINE_HEARING_H
#define ENGINE_HEARING_H

#include "engine/state.h"

/* What is held under `seq` is the message that came: settle this one, once. */
bool hearing_stands_in(struct queue *queue, uint64_t seq);
/* A message is about to be settled because the store holds it under `seq`. */
void hearing_stored(struct queue *queue, struct store_held *held, uint64_t seq);
/* Notes what the source has heard of since. */
void hearing_note(struct queue *queue);
/* It may hear of more soon. */
bool hearing_waits(const struct queue *queue);

#endif
