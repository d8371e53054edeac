/* impound escalate: marks letters for review by another person. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_escalate_options[] = {DECIDE_OPTIONS, {0}};

int cmd_escalate_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {
        .name = "escalate", .done = "escalated", .options = cmd_escalate_options, .one_acts = true};
    return decide_run(env, &verb, argc, argv);
}
