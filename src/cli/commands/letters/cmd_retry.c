/* impound retry: makes waiting retries due now. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_retry_options[] = {DECIDE_OPTIONS, {0}};

int cmd_retry_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {.name = "retry",
                                            .done = "due now",
                                            .options = cmd_retry_options,
                                            .ids_act = true,
                                            .messages = true};
    return decide_run(env, &verb, argc, argv);
}
