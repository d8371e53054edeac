#include "cli/queue_names.h"

#include "cli/command.h"
#include "cli/field.h"
#include "cli/path.h"
#include "cli/text.h"

static void put_still_configured(struct json answer, struct bytes name, struct buf *out) {
    struct json configured;
    if (!json_get(answer, "configured", &configured) || configured.type != JSON_TRUE)
        return;
    buf_str(out, "the configuration still names ");
    text_put(out, name);
    buf_str(out, ": remove it there, too\n");
}

static void view_rename(const struct cli_env *env, struct json answer, struct arena *arena,
                        struct buf *out) {
    (void)env;
    struct bytes old = field_text(answer, "renamed_from", arena);
    text_put(out, old);
    buf_str(out, " is now ");
    text_put(out, field_text(answer, "queue", arena));
    buf_str(out, ": ");
    text_put(out, field_text(answer, "messages", arena));
    buf_str(out, " messages and ");
    text_put(out, field_text(answer, "letters", arena));
    buf_str(out, " letters moved\n");
    put_still_configured(answer, old, out);
}

static void view_remove(const struct cli_env *env, struct json answer, struct arena *arena,
                        struct buf *out) {
    (void)env;
    struct json removed;
    bool done = json_get(answer, "removed", &removed) && removed.type == JSON_TRUE;
    struct bytes name = field_text(answer, "queue", arena);
    struct bytes why = field_text(answer, "why", arena);
    text_put(out, name);
    if (done) {
        buf_str(out, " is removed\n");
    } else if (why.len > 0) {
        buf_str(out, " cannot be removed: ");
        text_put(out, why);
        buf_char(out, '\n');
    } else {
        buf_str(out, " would be removed; --apply does it\n");
    }
    put_still_configured(answer, name, out);
}

static int post(const struct cli_env *env, const char *queue, const char *change, struct bytes body,
                command_view *view) {
    struct path path;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    path_segment(&path, change);
    struct client_call call = {path_text(&path), "application/json", body};
    int code = command_show(env, &call, view);
    path_free(&path);
    return code;
}

static void put_why(struct json_out *json, const struct options *options) {
    const char *why = options_get(options, "why");
    if (!why)
        return;
    json_key(json, "why");
    json_put_str(json, why);
}

int queue_names_rename(const struct cli_env *env, const struct options *options) {
    struct buf body;
    buf_init_heap(&body, SIZE_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    json_key(&json, "to");
    json_put_str(&json, options->args[2]);
    put_why(&json, options);
    json_close(&json, '}');
    int code = post(env, options->args[1], "rename", buf_view(&body), view_rename);
    buf_free(&body);
    return code;
}

int queue_names_remove(const struct cli_env *env, const struct options *options) {
    struct buf body;
    buf_init_heap(&body, SIZE_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    json_key(&json, "dry_run");
    json_put_bool(&json, !options_has(options, "apply"));
    put_why(&json, options);
    json_close(&json, '}');
    int code = post(env, options->args[1], "remove", buf_view(&body), view_remove);
    buf_free(&body);
    return code;
}
