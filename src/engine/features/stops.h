/* stops: when this queue's server last stopped gracefully.
 *
 * A graceful stop gives messages that were fetched but not handed over back to their source. A
 * source that counts deliveries counts the redelivery of those messages as well, which says nothing
 * about the messages (SEMANTICS 4.11), so those stops are subtracted. A kill is not noted here: a
 * message that crashes impound before it is handed over must become a letter in the end. The times
 * are kept in the queue's facts. */
#ifndef ENGINE_STOPS_H
#define ENGINE_STOPS_H

#include "base/json/json.h"
#include "engine/state.h"

void stops_note(struct queue *queue); /* notes a graceful stop now */
/* Stops since the message was created; WALL_NEVER: its creation time is not known, and all stops
 * count. */
uint32_t stops_since(const struct queue *queue, struct wall created_at);
void stops_put(const struct queue *queue, struct json_out *json);
void stops_load(struct queue *queue, struct json facts);

#endif
