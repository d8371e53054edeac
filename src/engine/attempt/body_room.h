/* body_room: whether another body may be read into memory now (base/body_memory.h). Private to the
 * engine.
 *
 * While the process has room, any queue takes as many bodies as it needs. Without room a queue
 * joins a waiting line; when bodies were freed, the first queue in the line is fed, one queue per
 * turn of the engine. A queue that has no body in memory may always have one, so a queue whose
 * messages are stuck (a handler that hangs, a sink that is down) cannot stop the others. */
#ifndef ENGINE_BODY_ROOM_H
#define ENGINE_BODY_ROOM_H

#include "engine/state.h"

/* Body_room_end must be called before the engine is freed. */
void body_room_begin(struct engine *engine);
void body_room_end(struct engine *engine);
/* How many messages the queue may take: SIZE_MAX, 1 or 0. */
size_t body_room(struct queue *queue);
/* The queue was fed: it joins the line if it was refused room. */
void body_room_fed(struct queue *queue);
/* Feeds the first queue in the line this turn, if there is room. */
void body_room_serve(struct engine *engine);
bool body_room_waits(const struct engine *engine); /* a queue is in the line, and there is room */

/* The attempt's body is now in memory, or no longer is. */
void body_room_enter(struct attempt *attempt);
void body_room_leave(struct attempt *attempt);
/* Frees the body of a leased message, because its worker has a copy, and reads it again. */
void body_room_drop(struct attempt *attempt);
enum status body_room_reload(struct attempt *attempt, struct err *err);

#endif
