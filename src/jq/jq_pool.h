/* jq_pool: the jq port on a small pool of helper processes (SEMANTICS §10).
 *
 * A helper is this same program, started with the hidden verb `jq-helper`, with an empty
 * environment, no module path, no files and limits on memory and CPU; one that misbehaves is killed
 * and replaced. */
#ifndef JQ_JQ_POOL_H
#define JQ_JQ_POOL_H

#include "port/jq.h"

struct jq_pool_options {
    const char *program; /* the executable: "/proc/self/exe" */
    size_t helpers;      /* maximum; none before the first job, then one more than are busy */
    int64_t
        timeout_ms; /* CPU time of a program's run; compiling and starting helpers do not count */
    size_t memory_bytes; /* a helper's address space; 0: the default */
    size_t output_max;   /* bytes of one answer; 0: the default */
};

struct jq *jq_pool_new(const struct jq_pool_options *options);
/* The helper's main function: reads jobs on stdin, answers on stdout, until end of file. */
int jq_helper_main(void);

#endif
