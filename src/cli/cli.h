/* cli: the verbs of the command line (DESIGN §10). One table row and one cmd_<verb>.c each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

#include "base/status.h"

struct cli_env {
    const char *url;   /* --url, IMPOUND_URL, or the default */
    bool json;         /* --json */
    bool color;        /* a terminal, and NO_COLOR is not set */
    const char *version;
};

struct cli_verb {
    const char *name;
    const char *usage;   /* "push QUEUE [BODY]" */
    const char *summary; /* one line */
    const char *help;    /* options and an example */
    /* Returns the exit code: 0 done, 1 refused or failed, 2 usage, 3 unreachable, 4 not found. */
    int (*run)(const struct cli_env *env, int argc, char **argv);
};

/* `local`: verbs that live in app because they need other rooms (serve, check, doctor, version);
 * ends with a NULL name. */
int cli_main(int argc, char **argv, const struct cli_verb *local, const char *version);

#endif
