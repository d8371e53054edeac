/* broker_subject: the adapter and the server that broker_contract.c is built against. */
#ifndef BROKER_SUBJECT_H
#define BROKER_SUBJECT_H

#include "port/broker.h"
#include "port/clock.h"
#include "port/peek.h"

struct broker_subject {
    const char *kind; /* as its vtable and the source of its messages say */
    /* It remembers how far it is, and nothing else: what is settled behind something that is not
     * comes again in another life. */
    bool one_position;
    /* A server that runs, with nothing in it. False: it is not installed here. */
    bool (*start)(void);
    void (*stop)(void);
    /* A queue of its own for the next test. */
    void (*next)(void);
    /* A consumer, not listening yet; with the same instance it is the same one in another life. */
    struct broker *(*consumer)(const char *instance);
    void (*push)(struct bytes body);
    /* A pass over what lies there, without taking. NULL: it cannot. */
    struct peek *(*peek)(void);
    size_t (*left)(void); /* not settled yet, in the server's own view */
    /* The server dies, and comes back with what it had. NULL: it cannot. */
    void (*sever)(void);
    void (*heal)(void);
};

extern const struct broker_subject broker_subject;

/* What a consumer of a server is made from. */
static inline struct broker_options broker_subject_options(const char *url, const char *instance) {
    return (struct broker_options){.url = bytes_of(url),
                                   .queue = BYTES("q"),
                                   .instance = bytes_of(instance),
                                   .clock = &clock_system,
                                   .seed = 1,
                                   .max_body = 1 << 20};
}

#endif
