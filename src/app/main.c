#include <sodium.h>
#include <string.h>

#include "app/verbs.h"
#include "cli/cli.h"
#include "jq/jq_pool.h"

static const struct cli_verb local_verbs[] = {
    {"serve", "serve [-c FILE]", "run the server",
     "  -c, --config FILE   the configuration (default impound.yaml)\n\n"
     "SIGHUP reloads what can change live; SIGTERM and SIGINT stop gracefully.",
     serve_run},
    {"check", "check [-c FILE]", "check a configuration and print what it amounts to",
     "  -c, --config FILE   the configuration (default impound.yaml)\n\n"
     "Prints the effective policy of each queue, every default filled in. Exits 1 on mistakes.",
     check_run},
    {"doctor", "doctor [-c FILE] [--store PATH] [--repair]", "check that the store is whole",
     "  -c, --config FILE   the configuration that names the store (default impound.yaml)\n"
     "      --store PATH    the store itself, such as impound.db\n"
     "      --repair        salvage every whole record and rebuild what can be rebuilt\n\n"
     "The server must not be running on the same store.",
     doctor_run},
    {0},
};

int main(int argc, char **argv) {
    if (sodium_init() < 0)
        return status_exit(STATUS_INTERNAL);
    /* Not a verb of the command line: how the server starts its jq helpers (src/jq). */
    if (argc == 2 && strcmp(argv[1], "jq-helper") == 0)
        return jq_helper_main();
    return cli_main(argc, argv, local_verbs, IMPOUND_VERSION);
}
