/* ruling: the verbs resolve, discard, escalate, compensate, bury and retry, which differ in their
 * words alone.
 */
#ifndef CLI_RULING_H
#define CLI_RULING_H

#include "cli/cli.h"
#include "cli/filter.h"

#define RULING_OPTIONS                                                                             \
    FILTER_ACTION, {"why", "TEXT", "for the letters and the audit", 0}, {                          \
        "apply", NULL, "do it; without this nothing is changed", 0                                 \
    }

struct ruling_verb {
    const char *name; /* "discard": also the call's */
    const char *done; /* "discarded" */
    const struct options_row *options;
    bool one_acts;        /* one id and a why are enough, without --apply */
    bool ids_act;         /* ids are enough, without --apply and why */
    bool messages;        /* it acts on messages that wait … */
    bool may_be_messages; /* … or does with one id, and with a --state that letters are not in */
};

int ruling_run(const struct cli_env *env, const struct ruling_verb *verb, int argc, char **argv);

#endif
