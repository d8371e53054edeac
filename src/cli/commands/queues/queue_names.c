/* queue_names: see the header. */
#include "cli/commands/queues/queue_names.h"

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/sentence.h"
#include "cli/view/safe_text.h"

#define CHUNK ((size_t)16 * 1024)

static bool is_true(struct json answer, const char *member) {
    return field_at(answer, member).type == JSON_TRUE;
}

static void put_counted(struct json answer, const char *member, const char *noun,
                        struct arena *arena, struct buf *out) {
    struct bytes count = field_text(answer, member, arena);
    text_put(out, count);
    buf_printf(out, " %s%s", noun, bytes_is(count, "1") ? "" : "s");
}

static void put_damaged(struct json answer, struct arena *arena, struct buf *out) {
    struct json_walk ids = json_walk(field_at(answer, "damaged"));
    struct bytes id;
    for (size_t i = 0; json_step(&ids); i++) {
        if (i > 0)
            buf_str(out, ", ");
        else
            sentence_put(answer, "they cannot be read and stay in {renamed_from}: ", arena, out);
        if (json_string(ids.value, arena, &id))
            text_put(out, id);
    }
    if (field_at(answer, "damaged").type == JSON_ARRAY)
        buf_str(out, "\nonce the store is repaired, the same command moves them\n");
}

static void view_rename(struct json answer, struct arena *arena, struct buf *out) {
    sentence_put(answer, "{renamed_from} is now {queue}: ", arena, out);
    put_counted(answer, "messages", "message", arena, out);
    buf_str(out, " and ");
    put_counted(answer, "letters", "letter", arena, out);
    buf_str(out, " moved\n");
    put_damaged(answer, arena, out);
    if (is_true(answer, "configured"))
        sentence_put(answer,
                     "the configuration still names {renamed_from}, so it stays listed until it is "
                     "removed there, too\n",
                     arena, out);
}

static void view_remove(const struct cli_env *env, struct json answer, struct arena *arena,
                        struct buf *out) {
    (void)env;
    const char *pattern = "{queue} would be removed; --apply does it\n";
    if (is_true(answer, "removed"))
        pattern = "{queue} is removed from the store\n";
    else if (field_text(answer, "why", arena).len > 0)
        pattern = "{queue} cannot be removed: {why}\n";
    sentence_put(answer, pattern, arena, out);
    if (is_true(answer, "configured"))
        sentence_put(answer,
                     "the configuration still names {queue}, so it stays listed until it is "
                     "removed there, too\n",
                     arena, out);
}

static int post_remove(const struct cli_env *env, const char *queue, struct bytes body) {
    struct path path;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    path_segment(&path, "remove");
    struct client_call call = {path_text(&path), "application/json", body};
    int code = command_show(env, &call, view_remove);
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

/* Prints the answer; unreadable messages give an exit code, too. */
static int show_renamed(const struct cli_env *env, struct bytes text) {
    struct json answer;
    struct arena arena;
    struct buf out;
    json_parse(text, &answer, NULL); /* checked by client_send */
    arena_init_heap(&arena, CHUNK);
    buf_init_heap(&out, COMMAND_ANSWER_MAX);
    if (env->json)
        buf_printf(&out, "%.*s\n", BYTES_ARG(answer.text));
    else
        view_rename(answer, &arena, &out);
    uint64_t damaged = 0;
    bytes_u64(field_text(answer, "damaged_count", &arena), &damaged);
    int code = command_write(buf_view(&out));
    buf_free(&out);
    arena_free(&arena);
    return code == 0 && damaged > 0 ? command_damaged(damaged) : code;
}

static int post_rename(const struct cli_env *env, const char *queue, struct bytes body) {
    struct client *client = client_new(env->url);
    struct path path;
    struct buf answer;
    struct err err;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    path_segment(&path, "rename");
    buf_init_heap(&answer, COMMAND_ANSWER_MAX);
    struct client_call call = {path_text(&path), "application/json", body};
    int code = client_send(client, &call, &answer, &err) == STATUS_OK
                   ? show_renamed(env, buf_view(&answer))
                   : command_fail(&err);
    buf_free(&answer);
    path_free(&path);
    client_free(client);
    return code;
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
    int code = post_rename(env, options->args[1], buf_view(&body));
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
    int code = post_remove(env, options->args[1], buf_view(&body));
    buf_free(&body);
    return code;
}
