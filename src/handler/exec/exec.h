/* exec: one process per message (DESIGN §5). All exec handlers share one pool: one thread that
 * starts, feeds, watches and reaps the processes. */
#ifndef HANDLER_EXEC_EXEC_H
#define HANDLER_EXEC_EXEC_H

#include "port/clock.h"
#include "port/handler.h"

struct exec_pool;

struct exec_options {
    const struct bytes *argv; /* argv[0] is looked up in PATH unless it has a slash */
    size_t argc;
    struct bytes cwd; /* working directory: that of the configuration file */
    int64_t timeout_ms;
};

struct exec_pool *exec_pool_new(struct clock *clock);
/* After all its handlers were freed. */
void exec_pool_free(struct exec_pool *pool);
/* Copies the options. */
struct handler *exec_new(struct exec_pool *pool, const struct exec_options *options);

#endif
