/* explain: which rule, delay and limits led a message to where it is, in words and as data. */
#ifndef TRIAGE_EXPLAIN_H
#define TRIAGE_EXPLAIN_H

#include "base/buf.h"
#include "core/envelope.h"
#include "core/policy.h"

/* Appends
 * {"id":…,"state":…,"summary":"…","steps":[{"attempt":1,"at":…,"what":"…"},…],"rule":{…},"limits":{…}}.
 * The policy is the queue's present one; NULL when the queue is no longer configured. */
void explain_json(const struct envelope *envelope, const struct policy *policy, struct buf *out);

#endif
