/* impound resume: a queue goes on after a pause or a halt. */
#include "cli/cmd.h"

#include "cli/command.h"
#include "cli/queue_change.h"

int cmd_resume_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, NULL, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = queue_change(env, options.args[0], "resume", NULL);
    options_free(&options);
    return code;
}
