/* impound dlqs: the state of the dead-letter queues; resumes their triage rules. */
#include "cli/commands/cmd.h"

#include "cli/view/columns.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/listing.h"
#include "cli/path.h"

const struct options_row cmd_dlqs_options[] = {
    {"states", NULL, "how many letters of it are in which state", 0},
    {"resume", NULL, "start its triage rules again that stopped themselves", 0},
    {"why", "TEXT", "for the audit", 0},
    {0},
};

static const struct story_line lines[] = {
    {"depth", "depth", NULL},
    {"cap", "cap", NULL},
    {"new per minute", "arrivals_per_minute", NULL},
    {"oldest", "oldest_age_seconds", field_age},
    {"spilled", "spilled", NULL},
    {"ever arrived", "total", NULL},
    {"owner", "owner", NULL},
    {"auto-fixed %", "auto_fixed_percent", NULL},
    {"escalated %", "escalated_percent", NULL},
};

static const struct listing_column rule_columns[] = {
    {{"RULE", false}, "rule", NULL},
    {{"DO", false}, "do", NULL},
    {{"STATE", false}, "state", NULL},
    {{"RUNS", true}, "runs", NULL},
    {{"FIXED", true}, "fixed", NULL},
    {{"FAILED", true}, "failed", NULL},
    {{"ESCALATED", true}, "escalated", NULL},
    {{"NEXT", false}, "next_run_at", field_time},
    {{"WHY", false}, "why", NULL},
};

static void view_all(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    columns_print(&story, COLUMNS_DLQ, "DLQ,DEPTH,CAP,NEW/MIN,OLDEST,SPILLED,OWNER",
                  field_at(answer, "dlqs"));
}

static void view_rules(const struct story *story, struct json rules) {
    struct json_walk walk = json_walk(rules);
    if (!json_step(&walk))
        return;
    story_title(story, "triage", BYTES_NONE);
    listing_print(story, rule_columns, COMMAND_COUNT(rule_columns), rules, STORY_INDENT);
}

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "dlq", field_text(answer, "dlq", arena));
    story_lines(&story, lines, COMMAND_COUNT(lines));
    story_members(&story, "by state", "by_state");
    story_members(&story, "by category", "by_category");
    story_members(&story, "by reason", "by_reason");
    story_members(&story, "by age", "age_histogram");
    view_rules(&story, field_at(answer, "triage"));
    columns_adoptions(&story, answer);
}

static void view_states(const struct cli_env *env, struct json answer, struct arena *arena,
                        struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "dlq", field_text(answer, "dlq", arena));
    story_members(&story, "by state", "by_state");
}

static int states(const struct cli_env *env, const struct options *options) {
    struct path path;
    if (options->arg_count == 0)
        return command_usage(env, "dlqs", "--states of which one?");
    path_init(&path, "/v1/dlqs");
    path_segment(&path, options->args[0]);
    path_segment(&path, "states");
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view_states);
    path_free(&path);
    return code;
}

static int resume(const struct cli_env *env, const struct options *options) {
    struct path path;
    if (options->arg_count == 0)
        return command_usage(env, "dlqs", "--resume which one?");
    path_init(&path, "/v1/dlqs");
    path_segment(&path, options->args[0]);
    path_segment(&path, "resume");
    int code = command_post_why(env, path_text(&path), options_get(options, "why"), view_one);
    path_free(&path);
    return code;
}

int cmd_dlqs_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_dlqs_options, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    int code = options_has(&options, "resume") ? resume(env, &options)
               : options_has(&options, "states")
                   ? states(env, &options)
                   : command_show_all_or_one(env, &options, "/v1/dlqs", view_all, view_one);
    options_free(&options);
    return code;
}
