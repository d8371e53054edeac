/* explain: which rule, delay and limits led a message to its present state, in sentences and as
 * data. */
#ifndef TRIAGE_QUERY_EXPLAIN_H
#define TRIAGE_QUERY_EXPLAIN_H

#include "base/buf.h"
#include "core/outage/breaker.h"
#include "core/envelope/envelope.h"
#include "core/policy.h"

/* The present state of the queue, which may be what a message waits for. */
struct explain_queue {
    const char *stopped; /* "paused", "halted"; NULL: it runs */
    struct bytes why;    /* why it is stopped; may be empty */
    enum breaker_state breaker;
    struct wall breaker_until; /* while open */
    bool dlq_full; /* receives nothing, because too many messages wait for room in a full DLQ */
};

/* Appends
 * {"id":…,"state":…,"summary":"…","steps":[{"attempt":1,"at":…,"what":"…"},…],"rule":{…},"limits":{…}}.
 * Policy and queue are the present ones; NULL when the queue is no longer configured. */
void explain_json(const struct envelope *envelope, const struct policy *policy,
                  const struct explain_queue *queue, struct buf *out);

#endif
