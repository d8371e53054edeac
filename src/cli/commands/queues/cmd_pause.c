/* impound pause: stops a queue from receiving and handing over. */
#include "cli/commands/cmd.h"

#include "cli/command.h"
#include "cli/commands/queues/queue_change.h"

const struct options_row cmd_pause_options[] = {
    {"why", "TEXT", "the reason, shown by `impound queues`", 0},
    {0},
};

int cmd_pause_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_pause_options, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = queue_change(env, options.args[0], "pause", options_get(&options, "why"));
    options_free(&options);
    return code;
}
