/* queue_change: what pause and resume share. */
#ifndef CLI_QUEUE_CHANGE_H
#define CLI_QUEUE_CHANGE_H

#include "cli/cli.h"

/* Asks for the change ("pause", "resume") and says how the queue is then. Returns the exit code. */
int queue_change(const struct cli_env *env, const char *queue, const char *change, const char *why);

#endif
