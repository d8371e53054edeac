/* stream: exec with `mode: stream`: a few long-lived processes, each with one hand-over at a time
 * (docs/stream.md). Runs on the exec pool's thread. */
#ifndef HANDLER_STREAM_STREAM_H
#define HANDLER_STREAM_STREAM_H

#include "handler/exec/exec.h"

enum {
    STREAM_BACKOFF_FIRST_MS = 100,      /* delay before a dead worker is replaced; doubles … */
    STREAM_BACKOFF_LAST_MS = 30 * 1000, /* … up to this; an answer resets it */
    STREAM_VAIN_MAX =
        5, /* consecutive workers that ended before they read a message: the program cannot run */
};

struct stream_options {
    struct exec_options exec;
    uint32_t workers;      /* maximum of processes; each is started when needed */
    uint64_t max_messages; /* hand-overs until a worker is replaced; 0: never */
};

/* Copies the options. */
struct handler *stream_new(struct exec_pool *pool, const struct stream_options *options);

#endif
