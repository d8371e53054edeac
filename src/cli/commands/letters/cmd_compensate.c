/* impound compensate: runs the compensating handler for letters. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_compensate_options[] = {DECIDE_OPTIONS, {0}};

int cmd_compensate_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {.name = "compensate",
                                            .done = "given to their compensating handler",
                                            .options = cmd_compensate_options,
                                            .one_acts = false};
    return decide_run(env, &verb, argc, argv);
}
