#include <sodium.h>
#include <string.h>

#include "app/local_verbs.h"
#include "base/log.h"
#include "broker/common/openssl_exit.h"
#include "broker/registry.h"
#include "cli/cli.h"
#include "jq/jq_pool.h"
#include "server/dashboard/asset.h"

static const struct cli_verb local_verbs[] = {
    {"serve", "serve", "run the server",
     "SIGHUP reloads what can change live; SIGTERM and SIGINT stop gracefully.\n\n"
     "  impound serve -c impound.yaml",
     serve_run, serve_options},
    {"check", "check", "check a configuration and print what it amounts to",
     "Prints the effective policy of each queue, every default filled in. Exits 1 on mistakes.\n\n"
     "  impound check -c impound.yaml\n"
     "  impound check --connect",
     check_run, check_options},
    {"doctor", "doctor", "check that the store is whole",
     "The server must not be running on the same store. Exits 0 when the store is sound and "
     "`impound\n"
     "serve` starts with it, 1 when something is damaged; the report says whether serve starts.\n"
     "--repair takes everything that the journal, the packs and the SQLite file still hold. A "
     "message\n"
     "whose body is lost is kept, marked body_damaged.\n\n"
     "  impound doctor --store impound.db\n"
     "  impound doctor --store impound.db --repair",
     doctor_run, doctor_options},
    {"bench", "bench", "what this machine and its disk can do",
     "Durable commits of one letter and of many beside what the bare disk does, and messages "
     "through\n"
     "the built-in queue. Takes some seconds and up to 1 GiB in a folder beside the store, which "
     "is\n"
     "removed again; needs no server, and disturbs one that runs.\n\n"
     "  impound bench\n"
     "  impound bench --dir /mnt/other --seconds 5 --json",
     bench_run, bench_options},
    {"what-if", "what-if --rules FILE", "judge stored letters under another file's rules",
     "Shows what each letter would become, summed, with samples; nothing is changed. Without a\n"
     "filter: every unresolved letter.\n\n"
     "  impound what-if --rules new.yaml --dlq orders.dlq --since 6h",
     what_if_run, what_if_options},
    {0},
};

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        serve_hold_hangup();
    log_set_level(LOG_INFO);
#ifdef IMPOUND_OPENSSL
    openssl_exit_as_it_is();
#endif
    if (sodium_init() < 0)
        return status_exit(STATUS_INTERNAL);
    /* Not a verb of the command line: the server starts its jq helpers so (src/jq). */
    if (argc == 2 && strcmp(argv[1], "jq-helper") == 0)
        return jq_helper_main();
    struct registry_names brokers;
    registry_list(&brokers);
    return cli_main(argc, argv, local_verbs,
                    &(struct cli_build){.version = IMPOUND_VERSION,
                                        .dashboard = asset_has_dashboard(),
                                        .sources = brokers.sources,
                                        .sinks = brokers.sinks,
                                        .left_out = brokers.left_out});
}
