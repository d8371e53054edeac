/* impound bury: moves waiting messages from their queue to its DLQ. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_bury_options[] = {DECIDE_OPTIONS, FILTER_STATE, {0}};

int cmd_bury_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {
        .name = "bury", .done = "buried", .options = cmd_bury_options, .messages = true};
    return decide_run(env, &verb, argc, argv);
}
