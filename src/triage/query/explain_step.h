/* explain_step: one history line, and one error, as a sentence. */
#ifndef TRIAGE_QUERY_EXPLAIN_STEP_H
#define TRIAGE_QUERY_EXPLAIN_STEP_H

#include "base/buf.h"
#include "core/envelope/envelope.h"
#include "core/policy.h"

enum { EXPLAIN_MESSAGE_MAX = 200 }; /* bytes of an error message in a sentence */

/* "attempt 1 failed: TimeoutError: no answer → retry (timeout); next attempt 132 ms later (full
 * jitter of at most 200ms)". `rule` may be empty, the policy NULL. `refused_again`: the rule said
 * halt, and the message died of it because another one succeeded in between. */
void explain_step_put(const struct envelope_note *note, struct bytes rule, bool refused_again,
                      const struct policy *policy, struct buf *out);
/* "TimeoutError: no answer"; empty parts are left out. */
void explain_step_put_error(struct bytes error_type, struct bytes error_message, struct buf *out);

#endif
