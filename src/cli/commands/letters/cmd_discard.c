/* impound discard: marks letters, or waiting messages, as discarded. Their bodies are kept. */
#include "cli/commands/cmd.h"

#include "cli/commands/letters/letter_verbs.h"

const struct options_row cmd_discard_options[] = {DECIDE_OPTIONS, FILTER_STATE, {0}};

int cmd_discard_run(const struct cli_env *env, int argc, char **argv) {
    static const struct decide_verb verb = {.name = "discard",
                                            .done = "discarded",
                                            .options = cmd_discard_options,
                                            .may_be_messages = true};
    return decide_run(env, &verb, argc, argv);
}
