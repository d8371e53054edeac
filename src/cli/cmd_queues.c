/* impound queues: how the queues are. */
#include "cli/cmd.h"

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/field.h"

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

int cmd_queues_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, NULL, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = command_show_all_or_one(env, &options, "/v1/queues", view_all, view_one);
    options_free(&options);
    return code;
}
