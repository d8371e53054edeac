/* impound retry: makes waiting retries due now. */
#include "cli/commands/cmd.h"

#include "cli/commands/decide.h"

const struct options_row cmd_retry_options[] = {RULING_OPTIONS, {0}};

int cmd_retry_run(const struct cli_env *env, int argc, char **argv) {
    static const struct ruling_verb verb = {.name = "retry",
                                            .done = "due now",
                                            .options = cmd_retry_options,
                                            .ids_act = true,
                                            .messages = true};
    return ruling_run(env, &verb, argc, argv);
}
