/* callback: calls a function in our own process for each message, on threads of its own (DESIGN §5,
 * library). A crash of the function is a crash of impound: see engine/suspect.c. */
#ifndef HANDLER_CALLBACK_CALLBACK_H
#define HANDLER_CALLBACK_CALLBACK_H

#include "port/clock.h"
#include "port/handler.h"

/* One hand-over, for the function. */
struct callback_call {
    const struct call *call; /* valid until the hand-over has ended */
    uint64_t token;
};

/* Called on a thread of the handler. callback_complete ends the hand-over, before or after the
 * function returns, from any thread. */
typedef void callback_run(void *arg, const struct callback_call *call);

struct callback_options {
    callback_run *run;
    void *arg;
    size_t threads; /* at least 1 */
    uint64_t first_token;
    struct clock *clock;
};

struct handler *callback_new(const struct callback_options *options);
/* False: the hand-over has ended already. */
bool callback_complete(struct handler *handler, uint64_t token, const struct outcome *outcome);
/* Whether the hand-over was cancelled; polled by the function. */
bool callback_cancelled(struct handler *handler, uint64_t token);

#endif
