/* source: a message as its source sees it: whether the store has it, and what the source is told of
 * it. Nothing here is told before it is durable elsewhere. */
#ifndef ENGINE_SOURCE_H
#define ENGINE_SOURCE_H

#include "engine/state.h"
#include "engine/source.h"

bool source_is_server(const struct queue *queue); /* its broker's messages are not in the store */
/* True if the message came from a broker and has not been stored yet, or is stored only as a
 * resolved letter. */
bool source_is_fresh(const struct attempt *attempt);
/* It is held already: its broker may forget it. */
void source_settle_copy(struct queue *queue, struct message *held);
/* Back to its broker, with nothing recorded. Frees the attempt. */
void source_return(struct attempt *attempt);
/* Before it is put into the store: what a push would have noted. */
void source_complete(struct message *held);
/* Its source gave it, and the store holds its id: whether it is another message, rather than a
 * redelivery of the one that is held (SEMANTICS 1.3). */
bool source_is_another(const struct attempt *attempt);
/* Its id is another message's: it gets one of its own, and the one that it had is a header. */
void source_rename(struct attempt *attempt);

#endif
