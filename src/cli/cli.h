/* cli: the verbs of the command line (DESIGN §10). One table row and one cmd_<verb>.c each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

#include "base/status.h"
#include "cli/options.h"

struct cli_verb;

/* The optional parts of this build. Lists end with NULL. */
struct cli_build {
    const char *version;
    bool dashboard;
    const char *const *sources, *const *sinks; /* brokers */
    const char *const *left_out;               /* brokers without their client library */
};

struct cli_env {
    const char *url; /* --url, IMPOUND_URL, or the default */
    bool json;       /* --json */
    bool color;      /* a terminal, and NO_COLOR is not set */
    const struct cli_build *build;
    const struct cli_verb *local; /* as given to cli_main, for help and completion */
};

struct cli_verb {
    const char *name;
    const char *usage;   /* "push QUEUE [BODY]" */
    const char *summary; /* one line */
    const char *help;    /* details and an example; options are appended */
    /* Returns the exit code: 0 done, 1 refused or failed, 2 usage, 3 unreachable, 4 not found.
     * argv[0] is the verb; the global options were removed. */
    int (*run)(const struct cli_env *env, int argc, char **argv);
    const struct options_row *options; /* ends with a NULL name; NULL: none */
};

/* `local`: verbs of app, which need other rooms (serve, check, doctor); ends with a NULL name. */
int cli_main(int argc, char **argv, const struct cli_verb *local, const struct cli_build *build);

#endif
