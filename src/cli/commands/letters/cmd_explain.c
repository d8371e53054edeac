/* impound explain: why a message is in its state. */
#include "cli/commands/cmd.h"

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/listing.h"
#include "cli/path.h"
#include "cli/view/safe_text.h"

const struct options_row cmd_explain_options[] = {
    {"queue", "QUEUE", "which one, when several queues hold that id", 0},
    {0},
};

static const struct listing_column step_columns[] = {
    {{"AT", false}, "at", field_time},
    {{"WHAT", false}, "what", NULL},
};

static const struct story_line lines[] = {
    {"queue", "queue", NULL},
    {"state", "state", NULL},
    {"cause", "cause", NULL},
};

static const struct story_line rule_lines[] = {
    {"verdict", "rule.verdict", NULL},
    {"category", "rule.category", NULL},
    {"reason", "rule.reason", NULL},
};

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    struct story story = {env, answer, arena, out};
    struct json steps = field_at(answer, "steps");
    struct json_walk first = json_walk(steps);
    text_put_lines(out, field_text(answer, "summary", arena), 0);
    bool letter = field_at(answer, "cause").type == JSON_STRING;
    story_title(&story, letter ? "letter" : "message", field_text(answer, "id", arena));
    story_lines(&story, lines, COMMAND_COUNT(lines));
    if (json_step(&first)) {
        story_title(&story, "what happened", BYTES_NONE);
        listing_print(&story, step_columns, COMMAND_COUNT(step_columns), steps, STORY_INDENT);
    }
    if (field_at(answer, "rule").type == JSON_OBJECT) {
        story_title(&story, "rule", field_text(answer, "rule.name", arena));
        story_lines(&story, rule_lines, COMMAND_COUNT(rule_lines));
        story_put(&story, "when", field_at(answer, "rule.when").text);
    }
    story_members(&story, "limits", "limits");
}

int cmd_explain_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, cmd_explain_options, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/letters");
    path_segment(&path, options.args[0]);
    path_segment(&path, "explain");
    path_argument(&path, "queue", options_get(&options, "queue"));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view);
    path_free(&path);
    options_free(&options);
    return code;
}
