/* connection_state: whether an adapter's server can be reached, what is wrong, and when it is tried
 * again. The adapter's thread writes it; the engine reads it for people. */
#ifndef BROKER_CONNECTION_STATE_H
#define BROKER_CONNECTION_STATE_H

#include <pthread.h>

#include "base/rng.h"
#include "port/broker.h"

enum {
    CONNECTION_STATE_RETRY_FIRST_MS = 200, /* doubles … */
    CONNECTION_STATE_RETRY_LAST_MS = 5000, /* … up to this; with full jitter */
    CONNECTION_STATE_LASTS_MS =
        1000, /* a connection that ends sooner does not reset the backoff: a server that accepts
                 connections and refuses every command is not asked at full speed */
};

struct connection_state {
    pthread_mutex_t mutex;
    struct broker_health health;
    void (*ready)(void *arg); /* NULL: there is no listener yet */
    void *arg;
    char *name; /* for the log: "queue orders: rabbitmq" */
    bool quiet; /* nothing is logged */
    struct rng rng;
    /* Used by the adapter's thread only. */
    uint32_t failures; /* in a row */
    bool told;         /* the log says that it is connected */
    struct mono made_at, next_try;
    uint32_t refusals; /* in a row */
    struct mono next_question;
};

/* For a source of this kind; for anything that has a name. */
void connection_state_init_source(struct connection_state *state, const char *kind,
                                  const struct broker_options *options);
void connection_state_init(struct connection_state *state, struct bytes name, uint64_t seed);
void connection_state_free(struct connection_state *state);
void connection_state_listen(struct connection_state *state, void (*ready)(void *arg), void *arg);
/* Tells the listener that something may be received now. */
void connection_state_notify(struct connection_state *state);
void connection_state_health(struct connection_state *state, struct broker_health *out);

/* It is not to be tried again yet; err says why it was not reached. */
bool connection_state_waits(struct connection_state *state, struct mono now, struct err *err);
/* The server was reached. Logs the end of trouble. */
void connection_state_made(struct connection_state *state, struct mono now);
/* The server could not be reached, or the connection was lost. Logs the beginning of trouble. It is
 * not tried again before next_try. */
void connection_state_lost(struct connection_state *state, struct mono now,
                           const struct err *trouble);
/* The server was reached and refused a request. It is not asked again before next_question. */
void connection_state_refused(struct connection_state *state, struct mono now);

#endif
