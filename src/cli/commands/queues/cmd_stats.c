/* impound stats: rates, depths and counters of everything, once. */
#include "cli/commands/cmd.h"

#include "cli/view/columns.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"

const struct options_row cmd_stats_options[] = {
    {"window", "DURATION", "over how long rates are taken (default 1m)", 0},
    {0},
};

static const struct story_line totals[] = {
    {"depth", "totals.depth", NULL},
    {"in flight", "totals.in_flight", NULL},
    {"pending retry", "totals.pending_retry", NULL},
    {"dead", "totals.dlq_depth", NULL},
    {"in per minute", "totals.rates.in_per_minute", NULL},
    {"ok per minute", "totals.rates.ok_per_minute", NULL},
    {"failed per min", "totals.rates.failed_per_minute", NULL},
    {"retries", "totals.retries", NULL},
};

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    struct story story = {env, answer, arena, out};
    columns_print(&story, COLUMNS_QUEUE,
                  "QUEUE,STATE,DEPTH,IN FLIGHT,RETRY,LAG,IN/MIN,OK/MIN,FAILED/MIN,RETRIES",
                  field_at(answer, "queues"));
    buf_char(out, '\n');
    columns_print(&story, COLUMNS_DLQ, "DLQ,DEPTH,NEW/MIN,EVER,SPILLED,FIXED %,ESCALATED %",
                  field_at(answer, "dlqs"));
    columns_adoptions(&story, answer);
    story_title(&story, "totals", BYTES_NONE);
    story_lines(&story, totals, COMMAND_COUNT(totals));
    story_members(&story, "attempts", "totals.attempts");
    story_members(&story, "triage rules", "totals.triage");
}

int cmd_stats_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, cmd_stats_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/stats");
    path_argument(&path, "window", options_get(&options, "window"));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view);
    path_free(&path);
    options_free(&options);
    return code;
}
