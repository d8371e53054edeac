/* rabbit_batch: a queue of RabbitMQ, read by one consumer after the other. Each consumer is
 * cancelled after a fixed number of messages: the last delivery tag is known then, and nothing more
 * comes until the next consumer begins. Nothing is acknowledged here. Used by one thread. */
#ifndef BROKER_RABBIT_BATCH_H
#define BROKER_RABBIT_BATCH_H

#include "base/arena.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_message.h"
#include "port/broker.h"

enum { RABBIT_BATCH_TAG_SIZE = 32 };

struct rabbit_batch {
    struct clock *clock;
    struct arena arena; /* the URL's texts */
    struct rabbit_url url;
    struct rabbit_origin origin;
    struct rng rng;
    struct rabbit_connection connection;
    uint64_t ready; /* messages that wait, as last asked */
    uint64_t open;  /* how many more the present consumer may get; 0: there is none */
    unsigned count; /* consumers so far */
    uint64_t last;  /* the last delivery tag that was read: the channel counts them from 1 */
    char tag[RABBIT_BATCH_TAG_SIZE]; /* of the present consumer */
};

/* The URL was checked. */
void rabbit_batch_init(struct rabbit_batch *batch, const struct broker_options *options);
/* Closes the connection; with `politely`, by the protocol's handshake. */
void rabbit_batch_free(struct rabbit_batch *batch, bool politely);

/* False: err says why, and the connection is unusable. */

/* Connects, to the host after the last that was tried, and looks for the queue. */
bool rabbit_batch_open(struct rabbit_batch *batch, struct err *err);
/* Sets `ready`. Earlier acknowledgements have arrived: a channel handles one method after the
 * other. */
bool rabbit_batch_ask(struct rabbit_batch *batch, struct err *err);
bool rabbit_batch_begin(struct rabbit_batch *batch, uint64_t count, struct err *err);
bool rabbit_batch_end(struct rabbit_batch *batch, struct err *err);

/* The next message of the present consumer, within that time; NULL but with RABBIT_READ_ONE. */
enum rabbit_reading rabbit_batch_read(struct rabbit_batch *batch, int64_t wait_ms,
                                      struct message **out, struct err *err);

#endif
