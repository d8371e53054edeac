/* jq: runs jq programs that users wrote. They run in helper processes, never in this one. */
#ifndef PORT_JQ_H
#define PORT_JQ_H

#include "base/bytes.h"
#include "base/status.h"

/* Limits in bytes; a larger job is INVALID. */
enum { JQ_PROGRAM_MAX = 64 * 1024, JQ_INPUT_MAX = 64 * 1024 * 1024 };

/* Owned by the caller, who keeps it valid until `done`. */
struct jq_job {
    struct bytes program;
    struct bytes input; /* one JSON value; ptr NULL: only compile, which is OK without an output */
    /* Called exactly once, from any thread, never from inside start. INVALID: the program or its
     * run failed, took too long, or used too much (err says which); then it does not match. OK:
     * `truthy` is whether the first output is neither false nor null (no output: false), and
     * `output` is that value as JSON (no output: empty), borrowed for the call. */
    void (*done)(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                 const struct err *err);
    void *arg;
};

struct jq;

struct jq_vtable {
    void (*start)(struct jq *jq, struct jq_job *job); /* MUST NOT block */
    void (*free)(struct jq *jq);                      /* no job may be in progress */
};

struct jq {
    const struct jq_vtable *vtable;
};

#endif
