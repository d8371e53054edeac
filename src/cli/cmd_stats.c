/* impound stats: rates, depths and counters of everything, at one moment. */
#include "cli/cmd.h"

#include "cli/command.h"
#include "cli/field.h"
#include "cli/listing.h"
#include "cli/path.h"

const struct options_row cmd_stats_options[] = {
    {"window", "DURATION", "over how long rates are taken (default 1m)", 0},
    {0},
};

static const struct listing_column queue_columns[] = {
    {{"QUEUE", false}, "queue", NULL},
    {{"STATE", false}, "state", NULL},
    {{"DEPTH", true}, "depth", NULL},
    {{"IN FLIGHT", true}, "in_flight", NULL},
    {{"RETRY", true}, "pending_retry", NULL},
    {{"LAG", true}, "lag", NULL},
    {{"IN/MIN", true}, "rates.in_per_minute", NULL},
    {{"OK/MIN", true}, "rates.ok_per_minute", NULL},
    {{"FAILED/MIN", true}, "rates.failed_per_minute", NULL},
    {{"RETRIES", true}, "retries", NULL},
};

static const struct listing_column dlq_columns[] = {
    {{"DLQ", false}, "dlq", NULL},
    {{"DEPTH", true}, "depth", NULL},
    {{"NEW/MIN", true}, "arrivals_per_minute", NULL},
    {{"EVER", true}, "total", NULL},
    {{"SPILLED", true}, "spilled", NULL},
    {{"FIXED %", true}, "auto_fixed_percent", NULL},
    {{"ESCALATED %", true}, "escalated_percent", NULL},
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
    listing_print(&story, queue_columns, COMMAND_COUNT(queue_columns), field_at(answer, "queues"),
                  0);
    buf_char(out, '\n');
    listing_print(&story, dlq_columns, COMMAND_COUNT(dlq_columns), field_at(answer, "dlqs"), 0);
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
