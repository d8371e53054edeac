/* impound completion: prints a completion script for a shell. */
#include "cli/commands/cmd.h"

#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"

enum { SCRIPT_MAX = 1 << 20 };

static const struct {
    const char *name;
    completion_put *put;
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

static int print(const struct cli_env *env, completion_put *put) {
    struct buf out;
    buf_init_heap(&out, SCRIPT_MAX);
    put(&out, env->local);
    int code = command_write(buf_view(&out));
    buf_free(&out);
    return code;
}

int cmd_completion_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, NULL, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    const char *name = options.args[0];
    int code = -1;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(name, shells[i].name) == 0)
            code = print(env, shells[i].put);
    if (code < 0)
        code = command_usage(env, "completion", "\"%s\" is not bash, zsh or fish", name);
    options_free(&options);
    return code;
}
