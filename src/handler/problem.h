/* problem: reads the body of a failed answer: what went wrong, in its sender's words. Pure. */
#ifndef HANDLER_PROBLEM_H
#define HANDLER_PROBLEM_H

#include "base/arena.h"

/* Each empty when the body does not say. UTF-8, clipped to the limits of core/outcome.h. */
struct problem {
    struct bytes error_type;
    struct bytes error_message;
    struct bytes stack_trace;
    int64_t retry_after_ms; /* -1: it does not say */
};

/* Knows {"error":{…}}, {"error":"text"}, {"errors":[…]}, RFC 9457 problems, the shapes of the large
 * model and cloud providers, and {"message":"text"}. Of any other body the beginning is the
 * message. Slices of `body` and of the arena (heap). */
void problem_read(struct bytes body, struct arena *arena, struct problem *out);

#endif
