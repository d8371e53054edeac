/* peek: reads messages at a broker without consuming them (SEMANTICS §14), for adoption: one pass
 * over the messages, with nothing acknowledged and nothing changed.
 *
 * The functions below may wait for the network. One thread calls them, and not the engine's. */
#ifndef PORT_PEEK_H
#define PORT_PEEK_H

#include "port/broker.h"

/* The maximum time that one call waits, unless a message must be fetched from another topic or
 * queue: that may take some seconds. */
enum { PEEK_WAIT_MS = 1000 };

struct peek;

struct peek_vtable {
    /* Connects, and checks whether the source can be read and whether that is permitted; reads
     * nothing. OK, TIMEOUT or an error, as below. `next` calls it if needed. */
    enum status (*begin)(struct peek *peek, struct err *err);
    /* Returns up to `max` further messages, oldest first, in the form that broker.h describes; each
     * is to be freed with message_free. OK with *count 0: the pass is complete; messages that
     * arrived after it began may be missing. TIMEOUT: no messages yet; call again. Any other
     * status: the pass failed, and err has the reason, without secrets; free the peek, and start
     * another one later. FORBIDDEN: peeking would always do harm, because the source's delivery
     * limit leaves too few deliveries; not used for a missing permission, which may be granted
     * later. */
    enum status (*next)(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err);
    /* Ends the pass. The broker's state is unchanged. */
    void (*free)(struct peek *peek);
};

struct peek {
    const struct peek_vtable *vtable;
};

/* Sets the error for a broker that did not answer in time. */
static inline enum status peek_unanswered(int64_t wait_ms, struct err *err) {
    return err_set(err, STATUS_TIMEOUT, "no answer within %lld ms", (long long)wait_ms);
}

/* Calls `begin`, and repeats it for up to `wait_ms`. TIMEOUT: there was no answer in that time. */
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
