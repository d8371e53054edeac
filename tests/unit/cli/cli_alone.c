/* The command line without the rooms behind serve, check and doctor. */
#include <stdio.h>

#include "cli/cli.h"

static int run_serve(const struct cli_env *env, int argc, char **argv) {
    (void)env;
    printf("serve");
    for (int i = 1; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\n");
    return 0;
}

static const struct options_row serve_options[] = {
    {"config", "FILE", "the configuration (default impound.yaml)", 'c'},
    {0},
};

static const struct cli_verb local_verbs[] = {
    {"serve", "serve", "run the server", "  impound serve -c impound.yaml", run_serve,
     serve_options},
    {0},
};

int main(int argc, char **argv) {
    static const char *const none[] = {NULL};
    return cli_main(
        argc, argv, local_verbs,
        &(struct cli_build){
            .version = IMPOUND_VERSION, .sources = none, .sinks = none, .left_out = none});
}
