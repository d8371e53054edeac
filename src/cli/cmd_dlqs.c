/* impound dlqs: how the dead-letter queues are. */
#include "cli/cmd.h"

#include "cli/command.h"
#include "cli/field.h"
#include "cli/listing.h"
#include "cli/path.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct listing_column columns[] = {
    {{"DLQ", false}, "dlq", NULL},
    {{"DEPTH", true}, "depth", NULL},
    {{"CAP", true}, "cap", NULL},
    {{"NEW/MIN", true}, "arrivals_per_minute", NULL},
    {{"OLDEST", true}, "oldest_age_seconds", field_age},
    {{"SPILLED", true}, "spilled", NULL},
    {{"OWNER", false}, "owner", NULL},
};

static const struct story_line lines[] = {
    {"depth", "depth", NULL},
    {"cap", "cap", NULL},
    {"new per minute", "arrivals_per_minute", NULL},
    {"oldest", "oldest_age_seconds", field_age},
    {"spilled", "spilled", NULL},
    {"ever arrived", "total", NULL},
    {"owner", "owner", NULL},
};

static void view_all(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    listing_print(&story, columns, COUNT(columns), field_at(answer, "dlqs"), 0);
}

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "dlq", field_text(answer, "dlq", arena));
    story_lines(&story, lines, COUNT(lines));
    story_members(&story, "by category", "by_category");
    story_members(&story, "by reason", "by_reason");
    story_members(&story, "by age", "age_histogram");
}

int cmd_dlqs_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, NULL, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/dlqs");
    if (options.arg_count > 0)
        path_segment(&path, options.args[0]);
    int code = command_show(env, &(struct client_call){.path = path_text(&path)},
                            options.arg_count > 0 ? view_one : view_all);
    path_free(&path);
    options_free(&options);
    return code;
}
