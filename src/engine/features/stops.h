/* stops: when this queue's server last stopped in good order.
 *
 * A graceful stop gives back to the source what was fetched and not handed over. A source that
 * counts deliveries counts the next one of those messages, too: it says nothing against them
 * (SEMANTICS 4.11). A kill is not counted here: a message that kills impound before it is handed
 * over must become a letter at some time. The times are kept in the queue's facts. */
#ifndef ENGINE_STOPS_H
#define ENGINE_STOPS_H

#include "base/json/json.h"
#include "engine/state.h"

void stops_note(struct queue *queue); /* it stops now */
/* Stops since a message was created; WALL_NEVER: that is not known, and all of them count. */
uint32_t stops_since(const struct queue *queue, struct wall created_at);
void stops_put(const struct queue *queue, struct json_out *json);
void stops_load(struct queue *queue, struct json facts);

#endif
