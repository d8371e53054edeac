/* rabbit_limit: of which type a queue is, and how often it gives a message again before it lets it
 * die.
 *
 * AMQP has no question for that. But a server that is asked to declare a queue which exists says in
 * words which argument differs, and what it is: so the queue is declared with a limit that cannot
 * be, and with an argument that no queue can have, so that none is ever made. A limit that a policy
 * sets is not told, nor is any to a user who may not declare. */
#ifndef BROKER_RABBIT_LIMIT_H
#define BROKER_RABBIT_LIMIT_H

#include "broker/rabbitmq/rabbit_connection.h"

enum {
    RABBIT_LIMIT_NONE = -1,    /* none, or none that is told */
    RABBIT_LIMIT_DEFAULT = 20, /* of quorum queues since version 4 */
};

struct rabbit_limit {
    enum rabbit_type {
        RABBIT_TYPE_UNKNOWN, /* the user may not declare queues */
        RABBIT_TYPE_QUEUE,   /* classic or quorum */
        RABBIT_TYPE_STREAM,
    } type;
    int64_t deliveries;
};

/* False: the connection is gone, and err says why. */
bool rabbit_limit_ask(struct rabbit_connection *connection, struct bytes queue,
                      struct rabbit_limit *out, struct err *err);

/* False, with words for people: the queue is a stream. A consumer of a stream begins at what
 * arrives next unless it keeps an offset, which impound does not: whatever arrived while it was
 * down would never be handed over. */
bool rabbit_limit_no_stream(const struct rabbit_limit *limit, struct bytes queue, struct err *err);

/* An argument of a queue, as a server tells it. */
struct rabbit_limit_argument {
    struct bytes name;
    struct bytes value; /* BYTES_NONE: the queue has none of that name */
    struct bytes type;  /* "longstr" "signedint" …; empty: not told */
};

/* "… inequivalent arg 'NAME' … but current is 'VALUE'", or "… the value 'VALUE' of type 'TYPE'", or
 * "… none". False: it says something else. Pure. */
bool rabbit_limit_read(struct bytes words, struct rabbit_limit_argument *out);

#endif
