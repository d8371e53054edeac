/* problem_body: reads error type, message and stack trace from the body of a failed answer. Pure.
 */
#ifndef HANDLER_HTTP_PROBLEM_BODY_H
#define HANDLER_HTTP_PROBLEM_BODY_H

#include "base/arena.h"

/* Each is empty if the body does not have it. UTF-8, clipped to the limits of core/outcome.h. */
struct problem {
    struct bytes error_type;
    struct bytes error_message;
    struct bytes stack_trace;
    int64_t retry_after_ms; /* -1: not given */
};

/* Knows {"error":{…}}, {"error":"text"}, {"errors":[…]}, RFC 9457 problems, the formats of the
 * large model and cloud providers, and {"message":"text"}. For any other body, its beginning is the
 * message. Slices of `body` and of the arena (heap). */
void problem_read(struct bytes body, struct arena *arena, struct problem *out);

#endif
