/* impound discard: letters that nobody needs any more; their bodies are kept. */
#include "cli/cmd.h"

#include "cli/ruling.h"

const struct options_row cmd_discard_options[] = {RULING_OPTIONS, {0}};

int cmd_discard_run(const struct cli_env *env, int argc, char **argv) {
    static const struct ruling_verb verb = {"discard", "discarded", cmd_discard_options, false};
    return ruling_run(env, &verb, argc, argv);
}
