/* impound help: usage. */
#include "cli/commands/cmd.h"

#include "cli/command.h"
#include "cli/help.h"
#include "cli/verbs.h"

static int help_one(const struct cli_env *env, const char *name) {
    const struct cli_verb *verb = verbs_find(env->local, name);
    if (verb) {
        help_verb(verb, stdout);
        return 0;
    }
    return command_usage(env, "help", "unknown verb \"%s\"", name);
}

int cmd_help_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, NULL, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = 0;
    if (options.arg_count == 0)
        help_all(env, stdout);
    else
        code = help_one(env, options.args[0]);
    options_free(&options);
    return code;
}
