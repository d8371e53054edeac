/* room: messages whose letter belongs into a full DLQ with `on_full: block` (SEMANTICS 4.4).
 *
 * Such a message is stored as pending_retry with its verdict (envelope_awaits_room) and
 * acknowledged at its source. It is not handed over again. When the DLQ has room it becomes the
 * letter that it was judged to be. Letters that exist already (replays, late answers, letters that
 * came back from their origin) keep their place and never wait. Private to the engine. */
#ifndef ENGINE_ROOM_H
#define ENGINE_ROOM_H

#include "engine/state.h"

/* At start: a DLQ that messages of the queue wait for counts as full until it is below 95 % of its
 * cap. */
void room_recover(struct queue *queue);
/* Makes letters of the messages that have room now, and checks which DLQs are full. */
void room_feed(struct queue *queue);
/* True if so many messages wait for room that the queue must not receive more. */
bool room_stops_receiving(const struct queue *queue);
/* When to check for room again; MONO_NEVER: no DLQ of the queue is full. */
struct mono room_next_wake(const struct queue *queue);
/* Names of the queue's full DLQs, separated by commas; returns their count. */
size_t room_describe(const struct queue *queue, char *out, size_t size);
/* Whether the DLQ was full at its last check. */
bool room_was_full(const struct engine *engine, struct bytes dlq);
void room_free(struct engine *engine);

#endif
