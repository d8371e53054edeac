/* impound resume: lets a queue continue after a pause or a halt. */
#include "cli/commands/cmd.h"

#include "cli/command.h"
#include "cli/commands/queues/queue_change.h"

const struct options_row cmd_resume_options[] = {
    {"why", "TEXT", "for the audit", 0},
    {0},
};

int cmd_resume_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_resume_options, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = queue_change(env, options.args[0], "resume", options_get(&options, "why"));
    options_free(&options);
    return code;
}
