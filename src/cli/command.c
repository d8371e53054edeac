/* command: see the header. */
#include "cli/command.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/help.h"
#include "cli/path.h"
#include "cli/view/safe_text.h"

#define CHUNK        ((size_t)16 * 1024)
#define WHY_BODY_MAX ((size_t)1024 * 1024)

bool command_options(const struct cli_env *env, const struct options_row *rows, int argc,
                     char **argv, size_t least, size_t most, struct options *out) {
    struct err err;
    if (options_parse(rows, argc, argv, least, most, out, &err) == STATUS_OK)
        return true;
    command_usage(env, argv[0], "%s", err.text);
    options_free(out);
    return false;
}

/* Errors may quote user input and message contents, so they are made safe for the terminal. */
static void complain(const char *text) {
    struct buf line;
    buf_init_heap(&line, CHUNK);
    buf_str(&line, "impound: ");
    text_put(&line, bytes_of(text));
    fprintf(stderr, "%s\n", buf_cstr(&line));
    buf_free(&line);
}

int command_usage(const struct cli_env *env, const char *verb, const char *format, ...) {
    assert(verb && format);
    struct err err;
    va_list args;
    va_start(args, format);
    vsnprintf(err.text, sizeof err.text, format, args);
    va_end(args);
    complain(err.text);
    help_usage(env, verb, stderr);
    return status_exit(STATUS_USAGE);
}

int command_fail(const struct err *err) {
    complain(err->text);
    return status_exit(err->status);
}

int command_damaged(uint64_t count) {
    struct err err;
    err_set(&err, STATUS_CORRUPT,
            "%llu letter%s cannot be read and %s left out; run impound doctor for details",
            (unsigned long long)count, count == 1 ? "" : "s", count == 1 ? "was" : "were");
    return command_fail(&err);
}

int command_unfiltered(const char *verb) {
    struct err err;
    err_set(&err, STATUS_INVALID,
            "%s what? Give ids or a filter, or --all; `impound help %s` lists the filters", verb,
            verb);
    return command_fail(&err);
}

int command_write(struct bytes text) {
    if (fwrite(text.ptr ? text.ptr : "", 1, text.len, stdout) == text.len && fflush(stdout) == 0)
        return 0;
    return command_fail(&(struct err){STATUS_IO, "the output could not be written"});
}

static int show_answer(const struct cli_env *env, struct bytes answer, command_view *view) {
    struct json json;
    struct arena arena;
    struct buf out;
    json_parse(answer, &json, NULL); /* checked by client_send */
    arena_init_heap(&arena, CHUNK);
    buf_init_heap(&out, COMMAND_ANSWER_MAX);
    if (env->json) {
        buf_bytes(&out, json.text);
        buf_char(&out, '\n');
    } else {
        view(env, json, &arena, &out);
    }
    int code = command_write(buf_view(&out));
    buf_free(&out);
    arena_free(&arena);
    return code;
}

typedef enum status send_fn(struct client *client, const struct client_call *call,
                            struct buf *answer, struct err *err);

static int send_and_show(const struct cli_env *env, send_fn *send, const struct client_call *call,
                         command_view *view) {
    struct client *client = client_new(env->url);
    struct buf answer;
    struct err err;
    buf_init_heap(&answer, COMMAND_ANSWER_MAX);
    int code = send(client, call, &answer, &err) == STATUS_OK
                   ? show_answer(env, buf_view(&answer), view)
                   : command_fail(&err);
    buf_free(&answer);
    client_free(client);
    return code;
}

int command_show(const struct cli_env *env, const struct client_call *call, command_view *view) {
    return send_and_show(env, client_send, call, view);
}

int command_patch(const struct cli_env *env, const struct client_call *call, command_view *view) {
    return send_and_show(env, client_patch, call, view);
}

int command_post_why(const struct cli_env *env, const char *path, const char *why,
                     command_view *view) {
    struct buf body;
    buf_init_heap(&body, WHY_BODY_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    if (why) {
        json_key(&json, "why");
        json_put_str(&json, why);
    }
    json_close(&json, '}');
    int code =
        command_show(env, &(struct client_call){path, "application/json", buf_view(&body)}, view);
    buf_free(&body);
    return code;
}

int command_show_all_or_one(const struct cli_env *env, const struct options *options,
                            const char *path, command_view *all, command_view *one) {
    struct path place;
    path_init(&place, path);
    if (options->arg_count > 0)
        path_segment(&place, options->args[0]);
    int code = command_show(env, &(struct client_call){.path = path_text(&place)},
                            options->arg_count > 0 ? one : all);
    path_free(&place);
    return code;
}
