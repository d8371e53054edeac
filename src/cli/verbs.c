/* verbs: the table of verbs and their help texts. */
#include "cli/verbs.h"

#include <string.h>

#include "base/text/suggest.h"
#include "cli/commands/cmd.h"

enum { NAMES_MAX = 64 };

static const struct cli_verb own[] = {
    {"push", "push QUEUE [BODY]", "push a message, or many",
     "BODY is sent as it is; without it, standard input is. What is not JSON is sent as "
     "text/plain.\n"
     "With --ndjson each line is one message: {\"body\": …, \"key\", \"headers\", \"id\", "
     "\"delay\"}.\n\n"
     "  impound push orders '{\"order\": 1}' --key k1 --header a=b\n"
     "  impound push orders --ndjson orders.ndjson",
     cmd_push_run, cmd_push_options},
    {"queues", "queues [NAME] | rename OLD NEW | remove NAME",
     "state of the queues: depth, breaker, rates; rename or remove one",
     "  impound queues\n"
     "  impound queues orders\n"
     "  impound queues rename orders prices --why 'one team, one name'\n"
     "  impound queues remove orders --apply",
     cmd_queues_run, cmd_queues_options},
    {"dlqs", "dlqs [NAME]", "state of the dead-letter queues: depth, age, reasons, triage rules",
     "With --resume, stopped triage rules of the named DLQ continue.\n\n"
     "  impound dlqs\n"
     "  impound dlqs orders.dlq\n"
     "  impound dlqs orders.dlq --resume --why 'fixed in 1.4'",
     cmd_dlqs_run, cmd_dlqs_options},
    {"ls", "ls [DLQ]", "list letters, newest first",
     "Without DLQ: the letters of all of them, or with --queue every message that the queue "
     "holds.\n"
     "Letters that are resolved or discarded are left out unless --state names them. TIME is RFC "
     "3339\n"
     "or how long ago.\n\n"
     "  impound ls orders.dlq --reason model_gone --since 6h\n"
     "  impound ls --queue orders --state pending_retry",
     cmd_ls_run, cmd_ls_options},
    {"show", "show ID", "one message: its history and its body",
     "ID is the message's own or its letter's.\n\n"
     "  impound show o-1 --queue orders",
     cmd_show_run, cmd_show_options},
    {"explain", "explain ID", "why a message is in its state",
     "Shows which rule, delay and limits led to it, and the remedy.\n\n"
     "  impound explain o-1",
     cmd_explain_run, cmd_explain_options},
    {"groups", "groups [GROUP | note|owner|resolve|mute|open|rule GROUP]",
     "letters by their failure, most first; note, resolve, mute, open",
     "GROUP is a fingerprint. A resolved group becomes open again and alerts when a letter "
     "arrives;\n"
     "a muted one does not. `rule` prints a classify rule that matches the group's failures.\n\n"
     "  impound groups --dlq orders.dlq\n"
     "  impound groups note 9f2c01d2e3a4b5c6 'see ticket 42'\n"
     "  impound groups resolve 9f2c01d2e3a4b5c6 --why 'fixed in 1.4'\n"
     "  impound groups rule 9f2c01d2e3a4b5c6 --do retry",
     cmd_groups_run, cmd_groups_options},
    {"replay", "replay [ID…]", "send letters again; nothing is changed without --apply",
     "Without --apply the plan is shown: number, destination and changes by the edit. With it, a\n"
     "canary of 1 and then 10 letters must succeed, then a ramp leads up to the rate. The replay\n"
     "aborts when letters fail again. Waits for the end; the exit status is 1 if it was "
     "aborted.\n\n"
     "  impound replay --reason model_gone --edit '.model=\"m2\"' --rate 50/s --apply",
     cmd_replay_run, cmd_replay_options},
    {"replays", "replays [ID]", "list replays; pause, resume or abort one",
     "With ID: the outcome of each of its letters.\n\n"
     "  impound replays 01909af4 --abort --why 'not fixed yet'",
     cmd_replays_run, cmd_replays_options},
    {"resolve", "resolve [ID…]", "mark letters as resolved by hand",
     "One ID is resolved at once; with several, or a filter, nothing is changed without "
     "--apply.\n\n"
     "  impound resolve 01909af4 --why 'fixed in the database'\n"
     "  impound resolve --reason missing_key --why 'fixed in the database' --apply",
     cmd_resolve_run, cmd_resolve_options},
    {"retry", "retry [ID…]", "make waiting retries due now",
     "Their next attempt is due now, whatever the backoff or Retry-After; breaker, budget, pause "
     "and\n"
     "order still apply. For letters use replay. With a filter nothing is changed without "
     "--apply.\n\n"
     "  impound retry o-1\n"
     "  impound retry --queue orders --apply",
     cmd_retry_run, cmd_retry_options},
    {"bury", "bury [ID…]", "dead-letter waiting messages; nothing is changed without --apply",
     "Moves waiting or leased messages from their queue to its DLQ, with cause operator. A lease "
     "is\n"
     "revoked; a message that is in flight at its handler is not changed.\n\n"
     "  impound bury 01909af4 --why 'always refused' --apply\n"
     "  impound bury --queue orders --state queued --key k1 --why 'wrong customer' --apply",
     cmd_bury_run, cmd_bury_options},
    {"discard", "discard [ID…]",
     "discard letters or waiting messages; nothing is changed without --apply",
     "Their bodies are kept for the DLQ's retention. With --state queued or pending_retry, or "
     "with\n"
     "the ID of a waiting message, it discards waiting messages.\n\n"
     "  impound discard --dlq orders.dlq --since 6h --why 'test traffic' --apply\n"
     "  impound discard --queue orders --state queued --why 'test traffic' --apply",
     cmd_discard_run, cmd_discard_options},
    {"escalate", "escalate [ID…]", "mark letters for review by another person",
     "They stay in their DLQ; triage rules skip them. One ID is escalated at once; with several, "
     "or\n"
     "a filter, nothing is changed without --apply.\n\n"
     "  impound escalate 01909af4 --why 'ask the provider'",
     cmd_escalate_run, cmd_escalate_options},
    {"compensate", "compensate [ID…]", "undo half-done letters; nothing is changed without --apply",
     "Runs the queue's compensating handler for each letter. If it succeeds, the letter is "
     "resolved\n"
     "as compensated; if it fails, the letter stays as it was, with a longer history.\n\n"
     "  impound compensate --reason payment_refused --why 'order cancelled' --apply",
     cmd_compensate_run, cmd_compensate_options},
    {"export", "export [ID…]", "complete letters as NDJSON, with bodies and history",
     "Without a filter every letter is exported, in any state; with one, unresolved letters "
     "unless\n"
     "--state is given.\n\n"
     "  impound export --dlq orders.dlq -o orders.ndjson.zst",
     cmd_export_run, cmd_export_options},
    {"import", "import FILE…", "import letters from exports, archives and spill files",
     "Letters are imported in the state in which they were written. Letters that are held already\n"
     "are skipped; damaged lines are reported, and the rest is imported.\n\n"
     "  impound import archive/orders.dlq/*.ndjson.zst",
     cmd_import_run, NULL},
    {"pause", "pause QUEUE", "stop handing over; survives a restart",
     "  impound pause orders --why 'moving the database'", cmd_pause_run, cmd_pause_options},
    {"resume", "resume QUEUE", "continue after a pause or a halt", "  impound resume orders",
     cmd_resume_run, cmd_resume_options},
    {"alerts", "alerts [test]", "firing alerts; or test the receivers",
     "With test, a test notice is sent to every receiver, or to the one named by --to, and the "
     "results\n"
     "are printed.\n\n"
     "  impound alerts\n"
     "  impound alerts test --to chat",
     cmd_alerts_run, cmd_alerts_options},
    {"audit", "audit", "who changed what, and why, newest first", "  impound audit --limit 20",
     cmd_audit_run, cmd_audit_options},
    {"stats", "stats", "rates, depths and counters of everything", "  impound stats --window 1m",
     cmd_stats_run, cmd_stats_options},
    {"top", "top", "a live view of queues, DLQs, alerts and replays",
     "Refreshed every second; q quits. If the output is not a terminal it is printed once.\n\n"
     "  impound top",
     cmd_top_run, cmd_top_options},
    {"demo", "demo", "a tour: three orders, an AI provider, an outage, a model that is gone",
     "Each step says what happens and shows the command that tells it, with its output. The tour "
     "is\n"
     "its own worker: the server needs the queues demo-orders and demo-ai, which it says how to "
     "add.\n"
     "With --self it starts a server of its own.\n\n"
     "  impound demo --self",
     cmd_demo_run, cmd_demo_options},
    {"completion", "completion bash|zsh|fish", "print a completion script for a shell",
     "  impound completion bash >~/.local/share/bash-completion/completions/impound",
     cmd_completion_run, NULL},
    {"version", "version", "the version, and the parts of this build", "  impound version --json",
     cmd_version_run, NULL},
    {"help", "help [VERB]", "usage of impound or of one verb", "  impound help push", cmd_help_run,
     NULL},
};

enum { OWN_COUNT = sizeof own / sizeof *own };

static size_t count_local(const struct cli_verb *local) {
    size_t count = 0;
    while (local && local[count].name)
        count++;
    return count;
}

const struct cli_verb *verbs_at(const struct cli_verb *local, size_t index) {
    size_t before = count_local(local);
    if (index < before)
        return &local[index];
    return index - before < OWN_COUNT ? &own[index - before] : NULL;
}

const struct cli_verb *verbs_find(const struct cli_verb *local, const char *name) {
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = verbs_at(local, i)); i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

const char *verbs_nearest(const struct cli_verb *local, const char *name) {
    const char *names[NAMES_MAX];
    const struct cli_verb *verb;
    size_t count = 0;
    while (count < NAMES_MAX && (verb = verbs_at(local, count)))
        names[count++] = verb->name;
    return suggest_nearest(bytes_of(name), names, count);
}
