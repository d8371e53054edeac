/* impound alerts: firing alerts; impound alerts test: sends a test notice to the receivers. */
#include "cli/commands/cmd.h"

#include <string.h>

#include "cli/view/columns.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/sentence.h"

enum { BODY_MAX = 4096 };

const struct options_row cmd_alerts_options[] = {
    {"to", "NAME", "with test: this receiver alone", 0},
    {0},
};

static void view_alerts(const struct cli_env *env, struct json answer, struct arena *arena,
                        struct buf *out) {
    struct story story = {env, answer, arena, out};
    struct json alerts = field_at(answer, "alerts");
    struct json_walk walk = json_walk(alerts);
    if (json_step(&walk))
        columns_print(&story, COLUMNS_ALERT, "SEVERITY,STATE,ALERT,SINCE,OWNER,RUNBOOK,SUMMARY",
                      alerts);
    else
        buf_str(out, "Nothing fires.\n");
}

/* Prints the results; false: a receiver failed. */
static bool put_results(struct json answer, struct arena *arena, struct buf *out) {
    bool all = true;
    for (struct json_walk walk = json_walk(field_at(answer, "results")); json_step(&walk);) {
        bool ok = false;
        json_bool(field_at(walk.value, "ok"), &ok);
        sentence_put(walk.value, ok ? "{to}: took it\n" : "{to}: {problem}\n", arena, out);
        all &= ok;
    }
    if (out->len == 0)
        buf_str(out, "No receivers are configured; add them under alerts.to in impound.yaml.\n");
    return all;
}

static int show_results(const struct cli_env *env, struct bytes answer) {
    struct json json;
    struct arena arena;
    struct buf out;
    json_parse(answer, &json, NULL); /* checked by client_send */
    arena_init_heap(&arena, BODY_MAX);
    buf_init_heap(&out, COMMAND_ANSWER_MAX);
    bool all = put_results(json, &arena, &out);
    if (env->json) {
        buf_clear(&out);
        buf_bytes(&out, json.text);
        buf_char(&out, '\n');
    }
    int code = command_write(buf_view(&out));
    buf_free(&out);
    arena_free(&arena);
    return code || all ? code : status_exit(STATUS_INVALID);
}

static int test(const struct cli_env *env, const char *to) {
    struct client *client = client_new(env->url);
    struct buf body, answer;
    struct err err;
    buf_init_heap(&body, BODY_MAX);
    buf_init_heap(&answer, COMMAND_ANSWER_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    if (to) {
        json_key(&json, "to");
        json_put_str(&json, to);
    }
    json_close(&json, '}');
    struct client_call call = {"/v1/alerts/test", "application/json", buf_view(&body)};
    int code = client_send(client, &call, &answer, &err) == STATUS_OK
                   ? show_results(env, buf_view(&answer))
                   : command_fail(&err);
    buf_free(&answer);
    buf_free(&body);
    client_free(client);
    return code;
}

int cmd_alerts_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    int code;
    if (!command_options(env, cmd_alerts_options, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    const char *to = options_get(&options, "to");
    if (options.arg_count == 1 && strcmp(options.args[0], "test") == 0)
        code = test(env, to);
    else if (options.arg_count == 1)
        code = command_usage(env, argv[0], "\"%s\" is not test", options.args[0]);
    else if (to)
        code = command_usage(env, argv[0], "--to is for alerts test");
    else
        code = command_show(env, &(struct client_call){.path = "/v1/alerts"}, view_alerts);
    options_free(&options);
    return code;
}
