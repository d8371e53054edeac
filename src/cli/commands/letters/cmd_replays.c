/* impound replays: lists replays, shows one, or changes one: pause, resume, abort. */
#include "cli/commands/cmd.h"

#include <string.h>

#include "cli/command.h"
#include "cli/path.h"
#include "cli/view/replay_text.h"

const struct options_row cmd_replays_options[] = {
    {"pause", NULL, "send nothing more for now", 0},
    {"resume", NULL, "go on after a pause", 0},
    {"abort", NULL, "end it; letters that were not sent stay unchanged", 0},
    {"why", "TEXT", "for the replay and the audit", 0},
    {"limit", "N", "rows of a page (default 50, at most 1000)", 0},
    {"cursor", "CURSOR", "go on where the last page ended", 0},
    {0},
};

static void view_line(const struct cli_env *env, struct json answer, struct arena *arena,
                      struct buf *out) {
    (void)env;
    replay_text_line(answer, arena, out);
}

static const char *change_of(const struct options *options) {
    static const char *const changes[] = {"pause", "resume", "abort"};
    for (size_t i = 0; i < COMMAND_COUNT(changes); i++)
        if (options_has(options, changes[i]))
            return changes[i];
    return NULL;
}

static int change(const struct cli_env *env, const struct options *options, struct path *path,
                  const char *what) {
    path_segment(path, what);
    return command_post_why(env, path_text(path), options_get(options, "why"), view_line);
}

static int show(const struct cli_env *env, const struct options *options, struct path *path) {
    path_argument(path, "limit", options_get(options, "limit"));
    path_argument(path, "cursor", options_get(options, "cursor"));
    return command_show(env, &(struct client_call){.path = path_text(path)},
                        options->arg_count > 0 ? replay_view_one : replay_view_all);
}

int cmd_replays_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    int code;
    if (!command_options(env, cmd_replays_options, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    const char *what = change_of(&options);
    path_init(&path, "/v1/replays");
    if (options.arg_count > 0)
        path_segment(&path, options.args[0]);
    if (what && options.arg_count == 0)
        code = command_usage(env, "replays", "--%s which one?", what);
    else
        code = what ? change(env, &options, &path, what) : show(env, &options, &path);
    path_free(&path);
    options_free(&options);
    return code;
}
