#include "triage/replay/replay_blocked.h"

#include <stdio.h>

void replay_blocked(const struct replay_queue_state *state, struct replay_queue *out) {
    out->blocked[0] = out->cut_off[0] = '\0';
    if (state->stopped)
        snprintf(out->blocked, sizeof out->blocked, "queue %.60s is %s", state->name,
                 state->stopped);
    else if (state->checking)
        snprintf(out->blocked, sizeof out->blocked, "queue %.60s checks why a message was refused",
                 state->name);
    else if (state->breaker_open)
        snprintf(out->blocked, sizeof out->blocked, "the breaker of queue %.60s is open",
                 state->name);
    if (!state->source_connected)
        snprintf(out->cut_off, sizeof out->cut_off, "the source of queue %.24s is away%s%.64s",
                 state->name, state->source_trouble[0] ? ": " : "", state->source_trouble);
}
