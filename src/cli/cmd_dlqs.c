/* impound dlqs: how the dead-letter queues are. */
#include "cli/cmd.h"

#include "cli/columns.h"
#include "cli/command.h"
#include "cli/field.h"

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
    columns_print(&story, COLUMNS_DLQ, "DLQ,DEPTH,CAP,NEW/MIN,OLDEST,SPILLED,OWNER",
                  field_at(answer, "dlqs"));
}

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "dlq", field_text(answer, "dlq", arena));
    story_lines(&story, lines, COMMAND_COUNT(lines));
    story_members(&story, "by category", "by_category");
    story_members(&story, "by reason", "by_reason");
    story_members(&story, "by age", "age_histogram");
}

int cmd_dlqs_run(const struct cli_env *env, int argc, char **argv) {
    return command_show_all_or_one(env, argc, argv, "/v1/dlqs", view_all, view_one);
}
