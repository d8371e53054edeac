/* flood_guard: counts how first attempts end and halts or warns when they suddenly die of one
 * failure (SEMANTICS 4.9). core/outage/flood.h decides; this keeps its counts with the queue's
 * facts. The engine's own. */
#ifndef ENGINE_FLOOD_GUARD_H
#define ENGINE_FLOOD_GUARD_H

#include "base/json/json.h"
#include "engine/state.h"

/* The attempt was judged, and its envelope says so; it may halt the queue. */
void flood_guard_judged(const struct attempt *attempt, const struct decision *decision);
/* A person resumed the queue: the group that flooded it passes. */
void flood_guard_resumed(struct queue *queue);
/* A member "flood" of the queue's facts; nothing where nothing was counted. */
void flood_guard_put(struct queue *queue, struct json_out *json);
void flood_guard_load(struct queue *queue, struct json facts, struct arena *arena);
void flood_guard_view(struct queue *queue, struct mono now, struct engine_flood *out);

#endif
