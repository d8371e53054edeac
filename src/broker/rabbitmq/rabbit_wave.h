/* rabbit_wave: a queue of RabbitMQ, read by one consumer after the other. Each may have so many
 * messages and is cancelled then: what was given is known to the last one, and nothing more comes
 * until the next begins. Nothing is acknowledged here. One thread's. */
#ifndef BROKER_RABBIT_WAVE_H
#define BROKER_RABBIT_WAVE_H

#include "base/arena.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_message.h"
#include "port/broker.h"

enum { RABBIT_WAVE_TAG_SIZE = 32 };

struct rabbit_wave {
    struct clock *clock;
    struct arena arena; /* the URL's texts */
    struct rabbit_url url;
    struct rabbit_place place;
    struct rng rng;
    struct rabbit_connection connection;
    uint64_t ready; /* messages that wait, as last asked */
    uint64_t open;  /* how many the present consumer may still have; 0: there is none */
    unsigned count; /* consumers so far */
    uint64_t last;  /* delivery tag that was read: the channel counts them from 1 */
    char tag[RABBIT_WAVE_TAG_SIZE]; /* of the present consumer */
};

/* The URL was checked. */
void rabbit_wave_init(struct rabbit_wave *wave, const struct broker_options *options);
/* Hangs up. Says good-bye first when `politely`. */
void rabbit_wave_free(struct rabbit_wave *wave, bool politely);

/* False: err says why, and the connection is of no more use. */

/* Connects, to the host behind the last that was tried, and looks for the queue. */
bool rabbit_wave_open(struct rabbit_wave *wave, struct err *err);
/* Sets `ready`. All that was acknowledged before has arrived: a channel does one thing after the
 * other. */
bool rabbit_wave_ask(struct rabbit_wave *wave, struct err *err);
bool rabbit_wave_begin(struct rabbit_wave *wave, uint64_t count, struct err *err);
bool rabbit_wave_end(struct rabbit_wave *wave, struct err *err);

/* The next message of the present consumer, within that time; NULL but with RABBIT_READ_ONE. */
enum rabbit_reading rabbit_wave_read(struct rabbit_wave *wave, int64_t wait_ms,
                                     struct message **out, struct err *err);

#endif
