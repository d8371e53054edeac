/* verbs: every verb of the command line, in the order of the help. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include <stddef.h>

#include "cli/cli.h"

/* The verbs of app, then those of this room; NULL after the last. */
const struct cli_verb *verbs_at(const struct cli_verb *local, size_t index);
const struct cli_verb *verbs_find(const struct cli_verb *local, const char *name);
/* The most similar verb, or NULL. */
const char *verbs_nearest(const struct cli_verb *local, const char *name);

#endif
