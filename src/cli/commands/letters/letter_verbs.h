/* letter_verbs: the verbs resolve, discard, escalate, compensate, bury and retry, which differ only
 * in their texts. */
#ifndef CLI_COMMANDS_LETTER_VERBS_H
#define CLI_COMMANDS_LETTER_VERBS_H

#include "cli/cli.h"
#include "cli/filter.h"

#define DECIDE_OPTIONS                                                                             \
    FILTER_ACTION, {"why", "TEXT", "for the letters and the audit", 0}, {                          \
        "apply", NULL, "do it; without this nothing is changed", 0                                 \
    }

struct decide_verb {
    const char *name; /* "discard": also the name of the call */
    const char *done; /* "discarded" */
    const struct options_row *options;
    bool one_acts; /* with one id and a why, --apply is not needed */
    bool ids_act;  /* with ids, --apply and a why are not needed */
    bool messages; /* it acts on waiting messages … */
    bool
        may_be_messages; /* … or does so with one id, and with a --state that letters cannot have */
};

int decide_run(const struct cli_env *env, const struct decide_verb *verb, int argc, char **argv);

#endif
