/* callback: gives each message to a function inside our own process, on threads of its own
 * (DESIGN §5, library). What kills the function kills us: see engine/suspect.c. */
#ifndef HANDLER_CALLBACK_H
#define HANDLER_CALLBACK_H

#include "port/clock.h"
#include "port/handler.h"

/* One hand-over, for the function. */
struct callback_call {
    const struct call *call; /* gone when the hand-over has ended */
    uint64_t token;
};

/* On a thread of the handler's. Whether before it returns or later, from any thread: the hand-over
 * ends with callback_complete. */
typedef void callback_run(void *arg, const struct callback_call *call);

struct callback_options {
    callback_run *run;
    void *arg;
    size_t threads; /* at least 1 */
    uint64_t first_token;
    struct clock *clock;
};

struct handler *callback_new(const struct callback_options *options);
/* False: it has ended already. */
bool callback_complete(struct handler *handler, uint64_t token, const struct outcome *outcome);
/* Whether somebody wants it to end soon; for the function that runs. */
bool callback_cancelled(struct handler *handler, uint64_t token);

#endif
