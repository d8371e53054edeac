/* exec_env: the environment of a child: ours, and variables about its message. */
#ifndef HANDLER_EXEC_EXEC_ENV_H
#define HANDLER_EXEC_EXEC_ENV_H

#include "base/arena.h"
#include "port/handler.h"

struct exec_env {
    char **inherited; /* ours, without the variables that exec_env_for sets; strings borrowed from
                         environ */
    size_t count;
};

void exec_env_init(struct exec_env *env);
void exec_env_free(struct exec_env *env);
/* NULL-terminated, in the arena (heap). */
char **exec_env_for(const struct exec_env *env, const struct call *call, struct arena *arena);

#endif
