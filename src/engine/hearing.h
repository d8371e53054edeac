/* hearing: what a source has heard of its messages without a name.
 *
 * Nothing tells such a message from its equals. One that comes again after our death is the one
 * that the store holds under its id, if its source never heard that this one was settled; else it
 * is another:
 *
 *   put into the store ──▶ settled ──▶ the source has heard ──▶ noted in the queue's facts
 *   └──────── stands in for one that comes in the next life ───┘ stands in for none
 *
 * The note is one number, below which all was heard. It may be too high, and a message is held
 * twice then. It is too low for as long as a note takes: an equal message that comes again after a
 * death in that moment is taken for the one that is held. What a life held in its hands comes again
 * when the next one begins: after a while nothing stands in any more.
 *
 * In the life that put it there an equal one that comes is another: an adapter knows those that
 * come again. The engine's own. */
#ifndef ENGINE_HEARING_H
#define ENGINE_HEARING_H

#include "engine/state.h"

/* How long messages have to come, in all, until what an earlier life left stands in no more. */
enum { HEARING_LASTS_MS = 30 * 1000 };

/* What the store holds is the message that came: settle this one, once. */
bool hearing_stands_in(struct queue *queue, const struct store_held *before);
/* It is about to be settled because the store holds it under `seq`. */
void hearing_stored(struct queue *queue, struct store_held *held, uint64_t seq);
/* Notes what the source has heard of since. */
void hearing_note(struct queue *queue);
struct mono hearing_next_wake(const struct queue *queue);
/* Nothing is under way, and what was settled is told before the connection ends. */
void hearing_note_last(struct queue *queue);

#endif
