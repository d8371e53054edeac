/* impound queues: the state of the queues; rename and remove. */
#include "cli/commands/cmd.h"

#include <string.h>

#include "cli/view/columns.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/commands/queues/queue_names.h"

static const struct story_line lines[] = {
    {"state", "state", NULL},
    {"why", "why", NULL},
    {"depth", "depth", NULL},
    {"in flight", "in_flight", NULL},
    {"pending retry", "pending_retry", NULL},
    {"awaiting room", "awaiting_room", NULL},
    {"delayed", "delayed", NULL},
    {"lag", "lag", NULL},
    {"breaker", "breaker.state", NULL},
    {"open until", "breaker.until", field_time},
    {"budget left", "budget.remaining_ratio", field_percent},
    {"in per minute", "rates.in_per_minute", NULL},
    {"ok per minute", "rates.ok_per_minute", NULL},
    {"failed per min", "rates.failed_per_minute", NULL},
    {"DLQ full", "dlq_full", NULL},
    {"concurrency", "concurrency", NULL},
    {"source", "source", NULL},
    {"source trouble", "source_trouble", NULL},
    {"handler", "handler", NULL},
};

static void view_all(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    columns_print(&story, COLUMNS_QUEUE,
                  "QUEUE,STATE,DEPTH,IN FLIGHT,RETRY,LAG,BREAKER,IN/MIN,OK/MIN,FAILED/MIN,WHY",
                  field_at(answer, "queues"));
    columns_adoptions(&story, answer);
}

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "queue", field_text(answer, "queue", arena));
    story_lines(&story, lines, COMMAND_COUNT(lines));
}

const struct options_row cmd_queues_options[] = {
    {"apply", NULL, "remove: do it; without this nothing is changed", 0},
    {"why", "TEXT", "rename, remove: for the audit", 0},
    {0},
};

static int run(const struct cli_env *env, const struct options *options) {
    if (options->arg_count == 3 && strcmp(options->args[0], "rename") == 0)
        return queue_names_rename(env, options);
    if (options->arg_count == 2 && strcmp(options->args[0], "remove") == 0)
        return queue_names_remove(env, options);
    if (options->arg_count > 1)
        return command_usage(env, "queues", "rename takes two names, remove one");
    return command_show_all_or_one(env, options, "/v1/queues", view_all, view_one);
}

int cmd_queues_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_queues_options, argc, argv, 0, 3, &options))
        return status_exit(STATUS_USAGE);
    int code = run(env, &options);
    options_free(&options);
    return code;
}
