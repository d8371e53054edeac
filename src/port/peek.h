/* peek: what lies at a broker, read without taking it (SEMANTICS §14). A broker adapter's third
 * half, for adoption: one pass over what is there, nothing acknowledged, all of it returned.
 *
 * The functions below may wait for the network. One thread calls them, and not the engine's. */
#ifndef PORT_PEEK_H
#define PORT_PEEK_H

#include "port/broker.h"

/* The longest that one call waits, but for a message that is elsewhere and does not come at once:
 * that may take some seconds. */
enum { PEEK_WAIT_MS = 1000 };

struct peek;

struct peek_vtable {
    /* Connects, and tells whether there is something to look at and whether it may be; reads
     * nothing. OK, TIMEOUT or trouble, as below. `next` begins by itself. */
    enum status (*begin)(struct peek *peek, struct err *err);
    /* Up to `max` further messages, oldest first, as broker.h says that a message looks; each is to
     * be freed with message_free. OK with *count 0: the pass is over; what arrived after it
     * began may be left out. TIMEOUT: nothing yet; ask again. Anything else: the pass failed, and
     * err says why in words for people, without secrets; free it, and begin another later.
     * FORBIDDEN: looking would do harm (a delivery limit leaves too few), and always will; not for
     * who may not look: he may tomorrow. */
    enum status (*next)(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err);
    /* Whatever was read is as if it had not been. */
    void (*free)(struct peek *peek);
};

struct peek {
    const struct peek_vtable *vtable;
};

/* What is said of a broker that was silent for so long, whether it was to be looked at or consumed
 * from. */
static inline enum status peek_unanswered(int64_t wait_ms, struct err *err) {
    return err_set(err, STATUS_TIMEOUT, "no answer within %lld ms", (long long)wait_ms);
}

/* Begins, asking again for as long as `wait_ms`. TIMEOUT: nothing was heard in all that time. */
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
