/* impound groups: letters grouped by failure; details of a group; its note and state. */
#include "cli/commands/cmd.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/listing.h"
#include "cli/path.h"
#include "cli/view/pretty.h"

enum { BODY_MAX = 1 << 20, MESSAGE_LINES_MAX = 20 };

const struct options_row cmd_groups_options[] = {
    {"dlq", "DLQ", "groups of this DLQ alone", 0},
    {"state", "STATE", "open, muted or resolved, or some with commas", 0},
    {"limit", "N", "rows of a page (at most 1000)", 0},
    {"cursor", "CURSOR", "go on where the last page ended", 0},
    {"why", "TEXT", "for the group and the audit", 0},
    {"do", "VERDICT", "with rule: retry, fallback, dlq, discard or halt", 0},
    {0},
};

/* ---- views ---- */

static struct bytes error_of(struct json group, const char *path, struct arena *arena) {
    (void)path;
    struct bytes type = field_text(group, "error_type", arena);
    struct bytes text = field_text(group, "error_message", arena);
    if (type.len == 0 || text.len == 0)
        return type.len > 0 ? type : text;
    struct buf both;
    size_t size = type.len + text.len + 3;
    buf_init_fixed(&both, arena_alloc(arena, size), size);
    buf_printf(&both, "%.*s: %.*s", BYTES_ARG(type), BYTES_ARG(text));
    return buf_view(&both);
}

static struct bytes joined(struct json group, const char *path, struct arena *arena) {
    struct json names = field_at(group, path);
    struct buf out;
    buf_init_fixed(&out, arena_alloc(arena, names.text.len + 1), names.text.len + 1);
    for (struct json_walk walk = json_walk(names); json_step(&walk);) {
        struct bytes name;
        if (json_string(walk.value, arena, &name))
            buf_printf(&out, "%s%.*s", out.len > 0 ? "," : "", BYTES_ARG(name));
    }
    return buf_view(&out);
}

static const struct listing_column columns[] = {
    {{"GROUP", false}, "fingerprint", NULL},    {{"COUNT", true}, "count", NULL},
    {{"STATE", false}, "state", NULL},          {{"LAST SEEN", false}, "last_seen", field_time},
    {{"CATEGORY", false}, "category", NULL},    {{"REASON", false}, "reason", NULL},
    {{"OWNER", false}, "owner", NULL},          {{"DLQ", false}, "dlqs", joined},
    {{"ERROR", false}, "error_type", error_of},
};

static void view_all(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    struct bytes cursor = field_text(answer, "cursor", arena);
    listing_print(&story, columns, COMMAND_COUNT(columns), field_at(answer, "groups"), 0);
    if (cursor.len > 0)
        fprintf(stderr, "There are more: --cursor %.*s\n", BYTES_ARG(cursor));
}

static const struct story_line lines[] = {
    {"letters", "count", NULL},
    {"ever", "total", NULL},
    {"dlqs", "dlqs", joined},
    {"first seen", "first_seen", field_time},
    {"last seen", "last_seen", field_time},
    {"category", "category", NULL},
    {"reason", "reason", NULL},
    {"rule", "rule", NULL},
    {"versions", "versions", joined},
    {"state", "state", NULL},
    {"why", "why", NULL},
    {"since", "changed_at", field_time},
    {"returned", "returned_at", field_time},
    {"owner", "owner", NULL},
    {"note", "note", NULL},
    {"sample", "sample", NULL},
};

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "group", field_text(answer, "fingerprint", arena));
    story_lines(&story, lines, COMMAND_COUNT(lines));
    story_title(&story, "failure", field_text(answer, "error_type", arena));
    pretty_text(out, field_text(answer, "error_message", arena), STORY_INDENT, MESSAGE_LINES_MAX);
}

static void view_rule(const struct cli_env *env, struct json answer, struct arena *arena,
                      struct buf *out) {
    (void)env;
    buf_bytes(out, field_text(answer, "yaml", arena));
}

/* ---- changes ---- */

/* The member that `groups WORD FP` sets, and its value; NULL: the next argument. */
static const struct change {
    const char *word, *member, *value;
} changes[] = {
    {"note", "note", NULL},     {"owner", "owner", NULL},  {"resolve", "state", "resolved"},
    {"mute", "state", "muted"}, {"open", "state", "open"},
};

static const struct change *change_of(const char *word) {
    for (size_t i = 0; i < COMMAND_COUNT(changes); i++)
        if (strcmp(changes[i].word, word) == 0)
            return &changes[i];
    return NULL;
}

static int run_change(const struct cli_env *env, const struct options *options,
                      const struct change *change) {
    const char *why = options_get(options, "why");
    const char *value = change->value ? change->value : options->args[2];
    struct path path;
    struct buf body;
    buf_init_heap(&body, BODY_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    json_key(&json, change->member);
    json_put_str(&json, value);
    if (why) {
        json_key(&json, "why");
        json_put_str(&json, why);
    }
    json_close(&json, '}');
    path_init(&path, "/v1/groups");
    path_segment(&path, options->args[1]);
    struct client_call call = {path_text(&path), "application/json", buf_view(&body)};
    int code = command_patch(env, &call, view_one);
    path_free(&path);
    buf_free(&body);
    return code;
}

static int change(const struct cli_env *env, const struct options *options,
                  const struct change *change) {
    if (options->arg_count != (change->value ? 2u : 3u))
        return command_usage(env, "groups", "groups %s takes a group%s", change->word,
                             change->value ? "" : " and a text ('' takes it away)");
    if (change->value && !options_get(options, "why"))
        return command_usage(env, "groups", "--why is missing: say why, for the audit");
    return run_change(env, options, change);
}

static int rule(const struct cli_env *env, const struct options *options) {
    struct path path;
    if (options->arg_count != 2 || !options_get(options, "do"))
        return command_usage(env, "groups", "groups rule takes a group and --do");
    path_init(&path, "/v1/groups");
    path_segment(&path, options->args[1]);
    path_segment(&path, "rule");
    path_argument(&path, "do", options_get(options, "do"));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view_rule);
    path_free(&path);
    return code;
}

static int show(const struct cli_env *env, const struct options *options) {
    static const char *const words[] = {"dlq", "state", "limit", "cursor"};
    struct path path;
    if (options->arg_count > 1)
        return command_usage(env, "groups",
                             "\"%s\" is none of note, owner, resolve, mute, open, rule",
                             options->args[0]);
    path_init(&path, "/v1/groups");
    if (options->arg_count == 1)
        path_segment(&path, options->args[0]);
    for (size_t i = 0; i < COMMAND_COUNT(words); i++)
        path_argument(&path, words[i], options_get(options, words[i]));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)},
                            options->arg_count == 1 ? view_one : view_all);
    path_free(&path);
    return code;
}

int cmd_groups_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    int code;
    if (!command_options(env, cmd_groups_options, argc, argv, 0, 3, &options))
        return status_exit(STATUS_USAGE);
    const struct change *wanted = options.arg_count > 0 ? change_of(options.args[0]) : NULL;
    if (wanted)
        code = change(env, &options, wanted);
    else if (options.arg_count > 0 && strcmp(options.args[0], "rule") == 0)
        code = rule(env, &options);
    else
        code = show(env, &options);
    options_free(&options);
    return code;
}
