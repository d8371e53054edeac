/* source: a message's relation to its source: whether the store has it, and its acknowledgement.
 * Nothing is acknowledged before it is durable elsewhere. */
#ifndef ENGINE_SOURCE_H
#define ENGINE_SOURCE_H

#include "engine/state.h"
#include "engine/source.h"

/* The queue has a broker, whose messages are not in the store. */
bool source_is_server(const struct queue *queue);
/* True if the message came from a broker and has not been stored yet, or is stored only as a
 * resolved letter. */
bool source_is_fresh(const struct attempt *attempt);
/* The message is held already: acknowledges the duplicate. */
void source_settle_copy(struct queue *queue, struct message *held);
/* Gives the message back to its broker, with nothing recorded. Frees the attempt. */
void source_return(struct attempt *attempt);
/* Before a message is put into the store: fills in the fields that a push would have set. */
void source_complete(struct message *held);
/* The store holds the received message's id: whether it is another message, rather than a
 * redelivery of the held one (SEMANTICS 1.3). */
bool source_is_another(const struct attempt *attempt);
/* The id belongs to another message: gives this one a new id, and keeps the old one in a header. */
void source_rename(struct attempt *attempt);

#endif
