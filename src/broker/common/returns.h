/* returns: how often this process gave a message back to its source, or lost the connection that
 * the message had come on.
 *
 * A source that counts deliveries counts the redelivery, too. It is not the message's fault, so it
 * is subtracted before `poison.deliveries` is applied (SEMANTICS 4.11). Messages are known by their
 * ids, which are made of their coordinates; at most RETURNS_MAX of them, the oldest are forgotten.
 * Several threads may use it at once. */
#ifndef BROKER_RETURNS_H
#define BROKER_RETURNS_H

#include <pthread.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "core/message.h"

enum { RETURNS_MAX = 16384 };

struct returns {
    pthread_mutex_t mutex;
    struct map by_id;
    struct list oldest; /* first */
    size_t count;
    uint64_t connection; /* the number of the present one */
};

void returns_init(struct returns *returns);
void returns_free(struct returns *returns);
/* The message goes back to its source. */
void returns_note(struct returns *returns, struct bytes id);
/* The connection that the message came on has ended. Counts once per connection, also where several
 * messages have one id. */
void returns_note_lost(struct returns *returns, struct bytes id);
void returns_next_connection(struct returns *returns);
/* Subtracts from the message's `deliveries` those that its returns have caused. */
void returns_deduct(struct returns *returns, struct message *held);

#endif
