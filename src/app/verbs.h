/* verbs: the verbs that need other rooms than the command line's own. */
#ifndef APP_VERBS_H
#define APP_VERBS_H

#include "cli/cli.h"

int serve_run(const struct cli_env *env, int argc, char **argv);
int check_run(const struct cli_env *env, int argc, char **argv);
int doctor_run(const struct cli_env *env, int argc, char **argv);
int what_if_run(const struct cli_env *env, int argc, char **argv);

extern const struct options_row what_if_options[];

/* The -c/--config option that these verbs share: true when argv[*i] was it (and *path is set). */
bool verbs_config_option(int argc, char **argv, int *i, const char **path);

#endif
