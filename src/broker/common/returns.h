/* returns: how often this process gave a message back to its source, or lost the connection that
 * the message had come on.
 *
 * A source that counts deliveries counts what comes again after that, too. Those deliveries say
 * nothing against the message, so they are taken off before `poison.deliveries` is judged
 * (SEMANTICS 4.11). Known by the message's id, which is made of its coordinates; at most
 * RETURNS_MAX messages, the oldest are forgotten. It may be used by several threads at once. */
#ifndef BROKER_RETURNS_H
#define BROKER_RETURNS_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
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
/* It goes back to its source. */
void returns_note(struct returns *returns, struct bytes id);
/* The connection that it came on has ended: counts once for each connection, also where several
 * messages are equal and have one id. */
void returns_note_lost(struct returns *returns, struct bytes id);
void returns_next_connection(struct returns *returns);
/* It was given: takes off of `deliveries` what going back has caused. */
void returns_deduct(struct returns *returns, struct message *held);

#endif
