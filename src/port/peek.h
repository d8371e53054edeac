/* peek: reads messages at a broker without consuming them (SEMANTICS §14), for adoption: one pass
 * over what is there, nothing acknowledged, everything left as it was.
 *
 * The functions below may wait for the network. One thread calls them, and not the engine's. */
#ifndef PORT_PEEK_H
#define PORT_PEEK_H

#include "port/broker.h"

/* The longest that one call waits, except for a message that must be fetched from another place:
 * that may take some seconds. */
enum { PEEK_WAIT_MS = 1000 };

struct peek;

struct peek_vtable {
    /* Connects, and finds out whether there is something to read and whether that is permitted;
     * reads nothing. OK, TIMEOUT or an error, as below. `next` calls it by itself. */
    enum status (*begin)(struct peek *peek, struct err *err);
    /* Up to `max` further messages, oldest first, as broker.h says that a message looks; each is to
     * be freed with message_free. OK with *count 0: the pass is over; messages that arrived after
     * it began may be left out. TIMEOUT: nothing yet; call again. Anything else: the pass failed,
     * and err says why, as a text for people without secrets; free it, and begin another later.
     * FORBIDDEN: peeking would do harm (a delivery limit leaves too few), and always will; not for
     * a missing permission, which may be granted later. */
    enum status (*next)(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err);
    /* Ends the pass: nothing has changed at the broker. */
    void (*free)(struct peek *peek);
};

struct peek {
    const struct peek_vtable *vtable;
};

/* The error of a broker that did not answer in time. */
static inline enum status peek_unanswered(int64_t wait_ms, struct err *err) {
    return err_set(err, STATUS_TIMEOUT, "no answer within %lld ms", (long long)wait_ms);
}

/* Begins, trying again for `wait_ms`. TIMEOUT: there was no answer in all that time. */
static inline enum status peek_begin_within(struct peek *peek, struct clock *clock, int64_t wait_ms,
                                            struct err *err) {
    struct mono until = mono_after(clock_now(clock).mono, wait_ms);
    enum status status = STATUS_TIMEOUT;
    while (status == STATUS_TIMEOUT && clock_now(clock).mono.ms < until.ms)
        status = peek->vtable->begin(peek, err);
    if (status == STATUS_OK)
        *err = (struct err){STATUS_OK, ""};
    else if (status == STATUS_TIMEOUT)
        peek_unanswered(wait_ms, err);
    return status;
}

#endif
