/* impound replay: shows the plan of a replay, or with --apply runs it and waits for its end. */
#include "cli/commands/cmd.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/filter.h"
#include "cli/view/replay_follow.h"
#include "cli/view/replay_text.h"

enum { BODY_MAX = 16 * 1024 * 1024, IDS_MAX = 100000 };

const struct options_row cmd_replay_options[] = {
    FILTER_ACTION,
    {"edit", "JQ", "a program on the body of each letter, such as '.model = \"m2\"'", 0},
    {"to", "QUEUE|origin", "to this queue instead of their own, or to where they came from", 0},
    {"rate", "RATE", "50/s (default), 15% of the queue's usual traffic, or max", 0},
    {"canary", "N,N…", "stages that must succeed first (default 1,10), or off", 0},
    {"ramp", "on|off", "start slowly (default on)", 0},
    {"stale", NULL, "send stale letters too", 0},
    {"when-version", "RULE", "wait until the queue's consumers are of it, such as '>= 1.4'", 0},
    {"why", "TEXT", "for the audit", 0},
    {"apply", NULL, "do it; without this nothing is changed", 0},
    {"detach", NULL, "do not wait for its end", 0},
    {0},
};

static void put_text(struct json_out *json, const struct options *options, const char *name) {
    const char *value = options_get(options, name);
    if (!value)
        return;
    json_key(json, name);
    json_put_str(json, value);
}

/* "off", or "1,10" as [1,10]; other values are refused by the server. */
static void put_canary(struct json_out *json, const char *value) {
    if (!value)
        return;
    json_key(json, "canary");
    if (strcmp(value, "off") == 0) {
        json_put_bool(json, false);
        return;
    }
    json_open(json, '[');
    for (struct bytes rest = bytes_of(value); rest.len > 0;) {
        size_t comma = bytes_find(rest, BYTES(","));
        struct bytes text = bytes_trim(bytes_cut(rest, 0, comma));
        uint64_t number;
        if (bytes_u64(text, &number) && number <= INT64_MAX)
            json_put_i64(json, (int64_t)number);
        else
            json_put(json, text);
        rest = bytes_cut(rest, comma + 1, rest.len);
    }
    json_close(json, ']');
}

static void put_order(const struct options *options, struct buf *body) {
    const char *ramp = options_get(options, "ramp");
    struct json_out json = json_out(body);
    json_open(&json, '{');
    filter_put(options, NULL, &json);
    put_text(&json, options, "edit");
    put_text(&json, options, "to");
    put_text(&json, options, "rate");
    put_text(&json, options, "why");
    if (options_get(options, "when-version")) {
        json_key(&json, "when_version");
        json_put_str(&json, options_get(options, "when-version"));
    }
    put_canary(&json, options_get(options, "canary"));
    if (ramp) {
        json_key(&json, "ramp");
        json_put_bool(&json, strcmp(ramp, "off") != 0);
    }
    if (options_has(options, "stale")) {
        json_key(&json, "stale");
        json_put_str(&json, "send");
    }
    json_key(&json, "dry_run");
    json_put_bool(&json, !options_has(options, "apply"));
    json_close(&json, '}');
}

/* Starts the replay; then follows it to its end, unless --detach is given. */
static int start(const struct cli_env *env, const struct client_call *call, bool detach) {
    struct client *client = client_new(env->url);
    struct buf answer;
    struct err err;
    int code;
    buf_init_heap(&answer, COMMAND_ANSWER_MAX);
    if (client_send(client, call, &answer, &err) != STATUS_OK)
        code = command_fail(&err);
    else
        code = replay_follow(env, client, &answer, detach);
    buf_free(&answer);
    client_free(client);
    return code;
}

static bool ramp_is_known(const struct options *options) {
    const char *ramp = options_get(options, "ramp");
    return !ramp || strcmp(ramp, "on") == 0 || strcmp(ramp, "off") == 0;
}

int cmd_replay_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    struct buf body;
    int code;
    if (!command_options(env, cmd_replay_options, argc, argv, 0, IDS_MAX, &options))
        return status_exit(STATUS_USAGE);
    buf_init_heap(&body, BODY_MAX);
    put_order(&options, &body);
    struct client_call call = {"/v1/replays", "application/json", buf_view(&body)};
    if (!filter_given(&options))
        code = command_unfiltered("replay");
    else if (!ramp_is_known(&options))
        code = command_usage(env, "replay", "--ramp is on or off");
    else if (options_has(&options, "apply"))
        code = start(env, &call, options_has(&options, "detach"));
    else
        code = command_show(env, &call, replay_view_plan);
    buf_free(&body);
    options_free(&options);
    return code;
}
