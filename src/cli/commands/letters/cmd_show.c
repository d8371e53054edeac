/* impound show: one message: its history and its body. */
#include "cli/commands/cmd.h"

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/listing.h"
#include "cli/path.h"
#include "cli/view/pretty.h"

enum { BODY_LINES_MAX = 200, TRACE_LINES_MAX = 200, TRACE_INDENT = 4 };

const struct options_row cmd_show_options[] = {
    {"queue", "QUEUE", "which one, when several queues hold that id", 0},
    {0},
};

static const struct story_line what[] = {
    {"message", "message.id", NULL},
    {"queue", "message.queue", NULL},
    {"dlq", "dlq", NULL},
    {"state", "state", NULL},
    {"cause", "cause", NULL},
    {"category", "category", NULL},
    {"reason", "reason", NULL},
    {"rule", "rule", NULL},
    {"why", "why", NULL},
    {"key", "message.key", field_any},
    {"blocked by", "blocked_by", NULL},
    {"attempts", "attempts", NULL},
    {"max attempts", "max_attempts", NULL},
    {"crashes", "crashes", NULL},
    {"probes", "probes", NULL},
    {"replays", "replays", NULL},
    {"owner", "owner", NULL},
    {"created", "created_at", field_time},
    {"first failure", "first_failure_at", field_time},
    {"last failure", "last_failure_at", field_time},
    {"dead", "dead_at", field_time},
    {"next attempt", "next_attempt_at", field_time},
    {"escalated", "escalated_at", field_time},
    {"read-only", "read_only", NULL},
    {"resolved", "resolved_at", field_time},
    {"resolution", "resolution", NULL},
    {"task", "task.id", NULL},
    {"task type", "task.type", NULL},
    {"handled by", "consumer.instance", NULL},
};

static const struct story_line failure_lines[] = {
    {"kind", "failure.kind", NULL},
    {"status", "failure.status", NULL},
    {"exit code", "failure.exit_code", NULL},
    {"signal", "failure.signal", NULL},
    {"retry after", "failure.retry_after_ms", field_duration},
    {"fingerprint", "failure.fingerprint", NULL},
};

/* The round of a history line: the number of the replay, or that it was a compensation. */
static struct bytes field_round(struct json line, const char *path, struct arena *arena) {
    bool compensation = false;
    json_bool(field_at(line, "compensation"), &compensation);
    return compensation ? BYTES("compensation") : field_text(line, path, arena);
}

static const struct listing_column history_columns[] = {
    {{"TRY", true}, "attempt", NULL},
    {{"REPLAY", true}, "replay", field_round},
    {{"AT", false}, "at", NULL},
    {{"TOOK", true}, "duration_ms", field_duration},
    {{"VERDICT", false}, "verdict", NULL},
    {{"COUNTED", false}, "counted", NULL},
    {{"NEXT IN", true}, "delay_ms", field_duration},
    {{"ERROR", false}, "error_type", NULL},
    {{"TEXT", false}, "error_message", NULL},
};

static void put_failure(const struct story *story) {
    if (field_at(story->object, "failure").type != JSON_OBJECT)
        return;
    struct bytes trace = field_text(story->object, "failure.stack_trace", story->arena);
    story_title(story, "failure", field_text(story->object, "failure.error_type", story->arena));
    pretty_text(story->out, field_text(story->object, "failure.error_message", story->arena),
                STORY_INDENT, TRACE_LINES_MAX);
    story_lines(story, failure_lines, COMMAND_COUNT(failure_lines));
    if (trace.len == 0)
        return;
    buf_str(story->out, "  stack trace:\n");
    pretty_text(story->out, trace, TRACE_INDENT, TRACE_LINES_MAX);
}

static void put_history(const struct story *story) {
    struct json history = field_at(story->object, "history");
    struct json_walk walk = json_walk(history);
    if (!json_step(&walk))
        return;
    story_title(story, "history", BYTES_NONE);
    listing_print(story, history_columns, COMMAND_COUNT(history_columns), history, STORY_INDENT);
}

/* A body that is not UTF-8 is shown as base64, as the server sends it. */
static void put_body(const struct story *story) {
    struct json message = field_at(story->object, "message"), body;
    bool raw = !json_get(message, "body", &body);
    if (raw && !json_get(message, "body_base64", &body))
        return;
    story_title(story, "body", raw ? BYTES("(base64)") : BYTES_NONE);
    story_put(story, "content type", field_text(message, "content_type", story->arena));
    story_put(story, "bytes", field_text(message, "size", story->arena));
    story_put(story, "hash", field_text(message, "content_hash", story->arena));
    story_put(story, "file", field_text(message, "body_file", story->arena));
    struct bytes text, type = field_text(message, "content_type", story->arena);
    bool json = bytes_starts(type, BYTES("application/json"));
    if (!json && json_string(body, story->arena, &text))
        pretty_text(story->out, text, STORY_INDENT, BODY_LINES_MAX);
    else
        pretty_json(story->out, body, STORY_INDENT, BODY_LINES_MAX);
}

/* The original body of an edited letter; edits work on JSON. */
static void put_original(const struct story *story) {
    struct json body;
    if (!json_get(field_at(story->object, "original"), "body", &body))
        return;
    story_title(story, "body before the edit", BYTES_NONE);
    pretty_json(story->out, body, STORY_INDENT, BODY_LINES_MAX);
}

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    struct story story = {env, answer, arena, out};
    bool letter = field_at(answer, "dead_at").type == JSON_STRING;
    story_title(&story, letter ? "letter" : "message", field_text(answer, "id", arena));
    story_lines(&story, what, COMMAND_COUNT(what));
    put_failure(&story);
    put_history(&story);
    story_members(&story, "headers", "message.headers");
    story_members(&story, "source", "source");
    story_members(&story, "context", "context");
    put_body(&story);
    put_original(&story);
}

int cmd_show_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, cmd_show_options, argc, argv, 1, 1, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/messages");
    path_segment(&path, options.args[0]);
    path_argument(&path, "queue", options_get(&options, "queue"));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view);
    path_free(&path);
    options_free(&options);
    return code;
}
