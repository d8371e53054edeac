/* rabbit_limit: the type and the delivery limit of a queue.
 *
 * AMQP has no method for that. But the error of a server that is asked to declare an existing queue
 * names the first argument that differs, with its value: so the queue is declared with an
 * impossible limit, and with an argument that no queue can have, so that no queue is ever created.
 * A limit that a policy sets is not reported, and nothing is to a user who may not declare queues.
 */
#ifndef BROKER_RABBIT_LIMIT_H
#define BROKER_RABBIT_LIMIT_H

#include "broker/rabbitmq/rabbit_connection.h"

enum {
    RABBIT_LIMIT_NONE = -1,    /* none, or unknown */
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

/* False: the connection failed, and err says why. */
bool rabbit_limit_ask(struct rabbit_connection *connection, struct bytes queue,
                      struct rabbit_limit *out, struct err *err);

/* False, with a text for people: the queue is a stream. A consumer of a stream starts at the next
 * message unless it keeps an offset, which impound does not: messages that arrive while it is down
 * would be skipped. */
bool rabbit_limit_no_stream(const struct rabbit_limit *limit, struct bytes queue, struct err *err);

/* An argument of a queue, as the server reports it. */
struct rabbit_limit_argument {
    struct bytes name;
    struct bytes value; /* BYTES_NONE: the queue has none of that name */
    struct bytes type;  /* "longstr" "signedint" …; empty: unknown */
};

/* "… inequivalent arg 'NAME' … but current is 'VALUE'", or "… the value 'VALUE' of type 'TYPE'", or
 * "… none". False: it says something else. Pure. */
bool rabbit_limit_read(struct bytes words, struct rabbit_limit_argument *out);

#endif
