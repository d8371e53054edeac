/* broker_subject: the adapter and the server that broker_contract.c is built against. */
#ifndef BROKER_SUBJECT_H
#define BROKER_SUBJECT_H

#include "port/broker.h"
#include "port/peek.h"
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
    /* The URL of that queue. */
    void (*url)(char *out, size_t size);
    enum status (*check)(struct bytes url, struct err *err);
    struct broker *(*source)(const struct broker_options *options);
    /* A pass over what lies there, without taking. NULL: it cannot. */
    struct peek *(*peek)(const struct broker_options *options);
    bool look_names;  /* what a look gave has the same id when it is taken */
    bool look_counts; /* … and the server counts a look as a delivery */
    bool look_all;    /* … and what is settled is looked at, too */
    void (*push)(struct bytes body);
    size_t (*left)(void); /* not settled yet, in the server's own view */
    /* The server dies, and comes back with what it had. NULL: it cannot. */
    void (*sever)(void);
    void (*heal)(void);
};

extern const struct broker_subject broker_subject;

#endif
