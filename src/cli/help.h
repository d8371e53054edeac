/* help: usage of impound and its verbs, from the table of verbs. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/cli.h"

void help_all(const struct cli_env *env, FILE *to);
void help_verb(const struct cli_verb *verb, FILE *to);
/* Two lines, after a usage error. */
void help_usage(const struct cli_env *env, const char *verb, FILE *to);

#endif
