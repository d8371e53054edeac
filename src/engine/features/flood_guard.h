/* flood_guard: counts how first attempts end, and halts the queue or warns when many of them are
 * suddenly dead-lettered for one failure (SEMANTICS 4.9). core/outage/flood.h decides; this file
 * stores its counts in the queue's facts. Private to the engine. */
#ifndef ENGINE_FLOOD_GUARD_H
#define ENGINE_FLOOD_GUARD_H

#include "base/json/json.h"
#include "engine/state.h"

/* To be called when the attempt was judged and its envelope is updated; may halt the queue. */
void flood_guard_judged(const struct attempt *attempt, const struct decision *decision);
/* A person resumed the queue: the failure group that flooded it is let through from now on. */
void flood_guard_resumed(struct queue *queue);
/* Writes a member "flood" of the queue's facts; writes nothing if nothing was counted. */
void flood_guard_put(struct queue *queue, struct json_out *json);
void flood_guard_load(struct queue *queue, struct json facts, struct arena *arena);
void flood_guard_view(struct queue *queue, struct mono now, struct engine_flood *out);

#endif
