/* impound resolve: marks letters as resolved by hand. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_resolve_options[] = {DECIDE_OPTIONS, {0}};

int cmd_resolve_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {
        .name = "resolve", .done = "resolved", .options = cmd_resolve_options, .one_acts = true};
    return decide_run(env, &verb, argc, argv);
}
