/* queue_change: shared by pause and resume. */
#ifndef CLI_COMMANDS_QUEUE_CHANGE_H
#define CLI_COMMANDS_QUEUE_CHANGE_H

#include "cli/cli.h"

/* Requests the change ("pause", "resume") and prints the queue's state. Returns the exit code. */
int queue_change(const struct cli_env *env, const char *queue, const char *change, const char *why);

#endif
