/* room: messages whose letter belongs into a full DLQ with `on_full: block` (SEMANTICS 4.4).
 *
 * Such a message is stored as pending_retry with its verdict (envelope_awaits_room) and settled at
 * its source. It is not handed over again. When the DLQ has room it becomes the letter that it was
 * judged to be. Letters that exist already (replays, late answers, letters that came back from
 * their origin) keep their place and never wait. The engine's own. */
#ifndef ENGINE_ROOM_H
#define ENGINE_ROOM_H

#include "engine/state.h"

/* At start: the DLQs that messages of the queue wait for are full until below 95 % of their cap. */
void room_recover(struct queue *queue);
/* Makes letters of the messages that have room now, and looks which DLQs are full. */
void room_feed(struct queue *queue);
/* So many messages wait for room that the queue receives nothing. */
bool room_stops_receiving(const struct queue *queue);
/* When to look for room again; MONO_NEVER: nothing of the queue is full. */
struct mono room_next_wake(const struct queue *queue);
/* Names of the queue's full DLQs, separated by commas; returns their count. */
size_t room_describe(const struct queue *queue, char *out, size_t size);
/* Whether it was full when it was last looked at. */
bool room_was_full(const struct engine *engine, struct bytes dlq);
void room_free(struct engine *engine);

#endif
