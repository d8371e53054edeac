/* impound audit: the audit log, newest first. */
#include "cli/commands/cmd.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/listing.h"
#include "cli/path.h"

const struct options_row cmd_audit_options[] = {
    {"limit", "N", "entries of a page (default 50, at most 1000)", 0},
    {"cursor", "CURSOR", "go on where the last page ended", 0},
    {0},
};

static struct bytes compact(struct json object, const char *path, struct arena *arena) {
    (void)arena;
    struct json value = field_at(object, path);
    return value.type == JSON_NULL ? BYTES("") : value.text;
}

static const struct listing_column columns[] = {
    {{"AT", false}, "at", field_time},      {{"WHO", false}, "who", NULL},
    {{"WHAT", false}, "what", NULL},        {{"COUNT", true}, "count", NULL},
    {{"WHY", false}, "why", NULL},          {{"SUBJECT", false}, "subject", NULL},
    {{"FILTER", false}, "filter", compact},
};

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    struct story story = {env, answer, arena, out};
    struct bytes cursor = field_text(answer, "cursor", arena);
    listing_print(&story, columns, COMMAND_COUNT(columns), field_at(answer, "audit"), 0);
    if (cursor.len > 0)
        fprintf(stderr, "There are more: --cursor %.*s\n", BYTES_ARG(cursor));
}

int cmd_audit_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, cmd_audit_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/audit");
    path_argument(&path, "limit", options_get(&options, "limit"));
    path_argument(&path, "cursor", options_get(&options, "cursor"));
    int code = command_show(env, &(struct client_call){.path = path_text(&path)}, view);
    path_free(&path);
    options_free(&options);
    return code;
}
