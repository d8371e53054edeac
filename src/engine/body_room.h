/* body_room: whether another body may be read into memory now (base/body_memory.h). The engine's
 * own.
 *
 * While the process has room, any queue takes what it likes. Without room a queue stands in line;
 * when bodies were freed, the first in line has its turn, one queue a turn of the engine. A queue
 * that has no body in memory may always have one, so that a queue whose messages are stuck (a
 * handler that hangs, a sink that is down) cannot stop the others. */
#ifndef ENGINE_BODY_ROOM_H
#define ENGINE_BODY_ROOM_H

#include "engine/state.h"

void body_room_begin(struct engine *engine); /* and body_room_end, before the engine is freed */
void body_room_end(struct engine *engine);
/* How many messages the queue may take: SIZE_MAX, 1 or 0. */
size_t body_room(struct queue *queue);
/* The queue was fed: it joins the line if it was refused. */
void body_room_fed(struct queue *queue);
/* The first in line is fed this turn, if there is room. */
void body_room_serve(struct engine *engine);
bool body_room_waits(const struct engine *engine); /* somebody is in line, and there is room */

/* The attempt's body is in memory, or is not any more. */
void body_room_enter(struct attempt *attempt);
void body_room_leave(struct attempt *attempt);
/* Gives up the body of a leased message, which its worker has, and reads it again. */
void body_room_drop(struct attempt *attempt);
enum status body_room_reload(struct attempt *attempt, struct err *err);

#endif
