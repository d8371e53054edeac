/* contact: how an adapter stands with its server: whether it is reached, what is wrong, and when it
 * is tried again. The adapter's thread tells, the engine and people ask. */
#ifndef BROKER_CONTACT_H
#define BROKER_CONTACT_H

#include <pthread.h>

#include "base/rng.h"
#include "port/broker.h"

enum {
    CONTACT_RETRY_FIRST_MS = 200, /* doubles … */
    CONTACT_RETRY_LAST_MS = 5000, /* … up to this; with full jitter */
    CONTACT_LASTS_MS = 1000, /* what ends sooner goes on with the tries before: a server that lets
                              * everybody in and refuses everything is not asked at full speed */
};

struct contact {
    pthread_mutex_t mutex;
    struct broker_health health;
    void (*ready)(void *arg); /* NULL: nobody listens yet */
    void *arg;
    char *name; /* for the log: "queue orders: rabbitmq" */
    bool quiet; /* … where nothing is written */
    struct rng rng;
    /* The adapter's thread's alone. */
    uint32_t failures; /* in a row */
    bool told;         /* the log has its last turn for the better */
    struct mono made_at, next_try;
    uint32_t refusals; /* in a row */
    struct mono next_question;
};

/* Of a source of this kind; of anything that has a name. */
void contact_init_source(struct contact *contact, const char *kind,
                         const struct broker_options *options);
void contact_init(struct contact *contact, struct bytes name, uint64_t seed);
void contact_free(struct contact *contact);
void contact_listen(struct contact *contact, void (*ready)(void *arg), void *arg);
/* Something may be received now. */
void contact_ring(struct contact *contact);
void contact_health(struct contact *contact, struct broker_health *out);

/* It is not to be tried again yet; err says why it was not reached. */
bool contact_waits(struct contact *contact, struct mono now, struct err *err);
/* The server is reached. The end of trouble is logged. */
void contact_made(struct contact *contact, struct mono now);
/* It is not, or no longer; the beginning of trouble is logged. Not tried again before next_try. */
void contact_lost(struct contact *contact, struct mono now, const struct err *trouble);
/* It is reached, and refuses what it was asked. Not asked again before next_question. */
void contact_refused(struct contact *contact, struct mono now);

#endif
