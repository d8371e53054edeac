/* impound top: queues, DLQs, alerts and replays, refreshed every second. */
#include "cli/commands/cmd.h"

#include "cli/view/columns.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/screen.h"
#include "cli/view/safe_text.h"

enum { EVERY_MS = 1000, CHUNK = 16 * 1024 };

const struct options_row cmd_top_options[] = {
    {"once", NULL, "print it once and end", 0},
    {0},
};

/* The parts of the view, most important first. */
static const struct {
    const char *path, *list;
    enum columns_of of;
    const char *shown;
} parts[] = {
    {"/v1/alerts", "alerts", COLUMNS_ALERT, "ALERT,SEVERITY,STATE,SUMMARY"},
    {"/v1/queues", "queues", COLUMNS_QUEUE,
     "QUEUE,STATE,DEPTH,IN FLIGHT,RETRY,IN/MIN,OK/MIN,FAILED/MIN,BREAKER,WHY"},
    {"/v1/dlqs", "dlqs", COLUMNS_DLQ, "DLQ,DEPTH,CAP,NEW/MIN,OLDEST,OWNER"},
    {"/v1/replays?limit=5", "replays", COLUMNS_REPLAY,
     "REPLAY,STATE,SELECTED,SENT,RESOLVED,FAILED,SKIPPED,WHY"},
};

struct top {
    const struct cli_env *env;
    struct client *client;
    struct buf answer, frame;
};

static bool has_rows(struct json list) {
    struct json_walk walk = json_walk(list);
    return json_step(&walk);
}

static void put_part(struct top *top, size_t part, struct json answer) {
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct story story = {top->env, answer, &arena, &top->frame};
    struct json list = field_at(answer, parts[part].list);
    if (has_rows(list)) {
        buf_char(&top->frame, '\n');
        columns_print(&story, parts[part].of, parts[part].shown, list);
    }
    arena_free(&arena);
}

static void put_title(struct top *top, bool live) {
    buf_str(&top->frame, "impound at ");
    text_put(&top->frame, bytes_of(top->env->url));
    buf_str(&top->frame, live ? "   (q quits)\n" : "\n");
}

static enum status make_frame(struct top *top, bool live, struct err *err) {
    struct json answer;
    buf_clear(&top->frame);
    put_title(top, live);
    for (size_t i = 0; i < COMMAND_COUNT(parts); i++) {
        struct client_call call = {.path = parts[i].path};
        enum status status = client_send(top->client, &call, &top->answer, err);
        if (status == STATUS_OK)
            status = json_parse(buf_view(&top->answer), &answer, err);
        if (status != STATUS_OK)
            return status;
        put_part(top, i, answer);
    }
    return STATUS_OK;
}

/* As one JSON document: the server's four answers under the names of their lists. */
static int print_json(struct top *top) {
    struct err err;
    struct json_out json = json_out(&top->frame);
    json_open(&json, '{');
    for (size_t i = 0; i < COMMAND_COUNT(parts); i++) {
        struct client_call call = {.path = parts[i].path};
        struct json answer;
        if (client_send(top->client, &call, &top->answer, &err) != STATUS_OK ||
            json_parse(buf_view(&top->answer), &answer, &err) != STATUS_OK)
            return command_fail(&err);
        json_key(&json, parts[i].list);
        json_put_raw(&json, field_at(answer, parts[i].list).text);
    }
    json_close(&json, '}');
    buf_char(&top->frame, '\n');
    return command_write(buf_view(&top->frame));
}

static int print_once(struct top *top) {
    struct err err;
    if (make_frame(top, false, &err) != STATUS_OK)
        return command_fail(&err);
    return command_write(buf_view(&top->frame));
}

/* An unreachable server is waited for: that is when people watch. */
static void watch(struct top *top) {
    do {
        struct err err;
        if (make_frame(top, true, &err) != STATUS_OK) {
            buf_char(&top->frame, '\n');
            text_put(&top->frame, bytes_of(err.text));
            buf_char(&top->frame, '\n');
        }
        screen_draw(buf_view(&top->frame));
    } while (screen_wait(EVERY_MS) != SCREEN_QUIT);
    screen_leave();
}

static int show(struct top *top, bool once) {
    if (top->env->json)
        return print_json(top);
    if (once || !screen_enter())
        return print_once(top);
    watch(top);
    return 0;
}

int cmd_top_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_top_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    struct top top = {.env = env, .client = client_new(env->url)};
    buf_init_heap(&top.answer, COMMAND_ANSWER_MAX);
    buf_init_heap(&top.frame, COMMAND_ANSWER_MAX);
    int code = show(&top, options_has(&options, "once"));
    buf_free(&top.answer);
    buf_free(&top.frame);
    client_free(top.client);
    options_free(&options);
    return code;
}
