/* queue_names: impound queues rename OLD NEW, impound queues remove NAME. */
#ifndef CLI_COMMANDS_QUEUE_NAMES_H
#define CLI_COMMANDS_QUEUE_NAMES_H

#include "cli/cli.h"
#include "cli/options.h"

int queue_names_rename(const struct cli_env *env, const struct options *options);
int queue_names_remove(const struct cli_env *env, const struct options *options);

#endif
