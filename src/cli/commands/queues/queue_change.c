/* queue_change: see the header. */
#include "cli/commands/queues/queue_change.h"

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/sentence.h"

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    (void)env;
    struct bytes why = field_text(answer, "why", arena);
    sentence_put(answer, why.len > 0 ? "{queue} is {state}: {why}\n" : "{queue} is {state}\n",
                 arena, out);
}

int queue_change(const struct cli_env *env, const char *queue, const char *change,
                 const char *why) {
    struct path path;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    path_segment(&path, change);
    int code = command_post_why(env, path_text(&path), why, view);
    path_free(&path);
    return code;
}
