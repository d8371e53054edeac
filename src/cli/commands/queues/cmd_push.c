/* impound push: pushes one or many messages into a queue. */
#include "cli/commands/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/letters/bulk.h"
#include "cli/command.h"
#include "cli/commands/letters/draft.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/safe_text.h"

#define BODY_MAX  ((size_t)64 * 1024 * 1024)
#define DRAFT_MAX (2 * BODY_MAX) /* base64, and the rest */

const struct options_row cmd_push_options[] = {
    {"key", "KEY", "messages with one key belong together", 0},
    {"header", "NAME=VALUE", "a header of the message; may be given several times", 0},
    {"id", "ID", "an id of your own; pushing it twice stores it once", 0},
    {"delay", "DURATION", "earliest hand-over, such as 5m from now", 0},
    {"content-type", "TYPE", "content type of the body (default application/json, else text/plain)",
     0},
    {"ndjson", "FILE", "push each line of a file, or of standard input with -", 0},
    {0},
};

/* ---- one ---- */

static enum status read_input(struct buf *out, struct err *err) {
    if (isatty(STDIN_FILENO))
        fprintf(stderr, "The body is read from standard input; end it with Ctrl-D.\n");
    while (!feof(stdin)) {
        char part[4096];
        buf_put(out, part, fread(part, 1, sizeof part, stdin));
        if (ferror(stdin))
            return err_set(err, STATUS_IO, "standard input could not be read");
        if (out->overflow)
            return err_set(err, STATUS_TOO_LARGE, "the body is larger than %zu bytes", BODY_MAX);
    }
    return STATUS_OK;
}

static void view(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    (void)env;
    for (struct json_walk w = json_walk(field_at(answer, "ids")); json_step(&w);) {
        struct bytes id = BYTES("");
        json_string(w.value, arena, &id);
        text_put(out, id);
        buf_char(out, '\n');
    }
    struct json_walk duplicates = json_walk(field_at(answer, "duplicates"));
    if (json_step(&duplicates))
        fprintf(stderr, "It was held already; nothing changed.\n");
}

static int push_one(const struct cli_env *env, const char *path, const struct options *options) {
    struct buf input, draft;
    struct err err;
    int code;
    buf_init_heap(&input, BODY_MAX);
    buf_init_heap(&draft, DRAFT_MAX);
    enum status status = STATUS_OK;
    if (options->arg_count > 1)
        buf_str(&input, options->args[1]);
    else
        status = read_input(&input, &err);
    if (status == STATUS_OK && input.len == 0 && options->arg_count == 1)
        status = err_set(&err, STATUS_USAGE,
                         "standard input is empty; write '' for a message with an empty body");
    if (status == STATUS_OK)
        status = draft_put(options, buf_view(&input), &draft, &err);
    if (status == STATUS_OK)
        code = command_show(env, &(struct client_call){path, "application/json", buf_view(&draft)},
                            view);
    else if (status == STATUS_USAGE)
        code = command_usage(env, "push", "%s", err.text);
    else
        code = command_fail(&err);
    buf_free(&input);
    buf_free(&draft);
    return code;
}

/* ---- many ---- */

static int push_file(const struct cli_env *env, const char *path, const char *name) {
    bool input = strcmp(name, "-") == 0;
    FILE *file = input ? stdin : fopen(name, "re");
    if (!file) {
        struct err err;
        err_set(&err, STATUS_INVALID, "%s: %s", name, strerror(errno));
        return command_fail(&err);
    }
    struct client *client = client_new(env->url);
    int code = bulk_push(env, client, path, file, input ? "standard input" : name);
    client_free(client);
    if (!input)
        fclose(file);
    return code;
}

static int push(const struct cli_env *env, const char *path, const struct options *options) {
    const char *file = options_get(options, "ndjson");
    if (!file)
        return push_one(env, path, options);
    if (options->arg_count > 1 || options->given_count > 1)
        return command_usage(env, "push",
                             "--ndjson takes all of it from the file: no BODY and no "
                             "other options");
    return push_file(env, path, file);
}

int cmd_push_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct path path;
    if (!command_options(env, cmd_push_options, argc, argv, 1, 2, &options))
        return status_exit(STATUS_USAGE);
    path_init(&path, "/v1/queues");
    path_segment(&path, options.args[0]);
    path_segment(&path, "messages");
    int code = push(env, path_text(&path), &options);
    path_free(&path);
    options_free(&options);
    return code;
}
