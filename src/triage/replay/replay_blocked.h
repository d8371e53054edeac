/* replay_blocked: whether a queue's state lets a replay send to it. */
#ifndef TRIAGE_REPLAY_REPLAY_BLOCKED_H
#define TRIAGE_REPLAY_REPLAY_BLOCKED_H

#include "triage/replay/replay.h"

/* The state of a queue, as far as it matters to replays. */
struct replay_queue_state {
    const char *name;
    const char *stopped;   /* "paused", "halted" …; NULL: it runs */
    bool checking;         /* it finds out why a message was refused */
    bool breaker_open;     /* a half-open breaker wants probes, and letters may be all there is */
    bool source_connected; /* what goes to its origin is published to the source's server */
    const char *source_trouble; /* empty: unknown */
};

/* Fills out->blocked and out->cut_off; the first reason counts. */
void replay_blocked(const struct replay_queue_state *state, struct replay_queue *out);

#endif
