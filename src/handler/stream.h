/* stream: exec with `mode: stream`: a few long-lived processes, each with one hand-over at a time
 * (docs/stream.md). Runs on the exec pool's thread. */
#ifndef HANDLER_STREAM_H
#define HANDLER_STREAM_H

#include "handler/exec.h"

enum {
    STREAM_BACKOFF_FIRST_MS = 100,      /* before a worker that died is replaced; doubles … */
    STREAM_BACKOFF_LAST_MS = 30 * 1000, /* … up to this; an answer sets it back */
    STREAM_VAIN_MAX = 5, /* workers in a row that ended before they read a message: the program
                          * cannot be run */
};

struct stream_options {
    struct exec_options exec;
    uint32_t workers;      /* processes at once; each is started when it is needed */
    uint64_t max_messages; /* hand-overs until a worker is replaced; 0: never */
};

/* Copies the options. */
struct handler *stream_new(struct exec_pool *pool, const struct stream_options *options);

#endif
