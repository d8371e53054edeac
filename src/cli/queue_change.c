#include "cli/queue_change.h"

#include "cli/command.h"
#include "cli/field.h"
#include "cli/path.h"
#include "cli/text.h"

enum { BODY_MAX = 1 << 20 };

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    (void)env;
    struct bytes why = field_text(answer, "why", arena);
    text_put(out, field_text(answer, "queue", arena));
    buf_str(out, " is ");
    text_put(out, field_text(answer, "state", arena));
    if (why.len > 0)
        buf_str(out, ": ");
    text_put(out, why);
    buf_char(out, '\n');
}

int queue_change(const struct cli_env *env, const char *queue, const char *change,
                 const char *why) {
    struct path path;
    struct buf body;
    buf_init_heap(&body, BODY_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    if (why) {
        json_key(&json, "why");
        json_put_str(&json, why);
    }
    json_close(&json, '}');
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    path_segment(&path, change);
    struct client_call call = {path_text(&path), "application/json", buf_view(&body)};
    int code = command_show(env, &call, view);
    path_free(&path);
    buf_free(&body);
    return code;
}
