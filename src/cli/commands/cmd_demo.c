/* impound demo: a tour through a running server, or one of its own. */
#include "cli/commands/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/demo_server.h"
#include "cli/demo_tour.h"
#include "cli/view/field.h"
#include "cli/path.h"

enum { CHUNK = 4096, ANSWER_MAX = 1 << 20 };

const struct options_row cmd_demo_options[] = {
    {"self", NULL, "start a server for it, in a temporary folder", 0},
    {"yes", NULL, "go on without waiting for Enter", 'y'},
    {0},
};

/* ---- is the server as the tour needs it? ---- */

static enum status judge_queue(struct json view, const char *queue, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    struct bytes handler = field_text(view, "handler", &arena);
    struct bytes state = field_text(view, "state", &arena);
    enum status status = STATUS_OK;
    if (!bytes_is(handler, "lease"))
        status =
            err_set(err, STATUS_INVALID, "the tour leases from queue %s, but its handler is %.*s",
                    queue, BYTES_ARG(handler));
    else if (!bytes_is(state, "running"))
        status = err_set(err, STATUS_INVALID, "queue %s is %.*s: impound resume %s", queue,
                         BYTES_ARG(state), queue);
    arena_free(&arena);
    return status;
}

static enum status check_queue(struct client *client, const char *queue, struct err *err) {
    struct path path;
    struct buf answer;
    struct json view;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue);
    buf_init_heap(&answer, ANSWER_MAX);
    struct client_call call = {.path = path_text(&path)};
    enum status status = client_send(client, &call, &answer, err);
    if (status == STATUS_NOT_FOUND)
        status = err_set(err, STATUS_INVALID, "the server has no queue %s", queue);
    else if (status == STATUS_OK && json_parse(buf_view(&answer), &view, err) == STATUS_OK)
        status = judge_queue(view, queue, err);
    buf_free(&answer);
    path_free(&path);
    return status;
}

static int check_server(struct client *client) {
    struct err err;
    if (check_queue(client, DEMO_WORKER_ORDERS, &err) == STATUS_OK &&
        check_queue(client, DEMO_WORKER_AI, &err) == STATUS_OK)
        return 0;
    int code = command_fail(&err);
    if (err.status == STATUS_INVALID)
        fprintf(stderr, "The tour needs two queues in impound.yaml (then restart the "
                        "server):\n\n" DEMO_SERVER_QUEUES "\n");
    fprintf(stderr, "`impound demo --self` needs nothing: it starts a server of its own.\n");
    return code;
}

/* ---- the tour ---- */

/* Seconds since 1970 in base 36, the last five digits: the same again in two years. */
static void name_run(char run[DEMO_TOUR_RUN_SIZE]) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    enum { LENGTH = 5, BASE = sizeof digits - 1 };
    unsigned long now = (unsigned long)time(NULL);
    for (int i = LENGTH - 1; i >= 0; i--, now /= BASE)
        run[i] = digits[now % BASE];
    run[LENGTH] = '\0';
}

static void greet(const struct cli_env *env, bool self) {
    printf("A tour of impound in four parts, through the server at %s.\n"
           "It pushes messages into the queues " DEMO_WORKER_ORDERS " and " DEMO_WORKER_AI
           ", and plays the workers that fetch them.\n",
           env->url);
    if (self)
        printf("The server is the tour's own and ends with it. To try commands of your own\n"
               "meanwhile, in another terminal: export IMPOUND_URL=%s\n",
               env->url);
    fflush(stdout);
}

static void part(bool self, int code) {
    if (self && code == 0)
        printf("\nThe tour's own server ends here, and its folder is removed.\n");
    else if (code == 0)
        printf("\nLeft at the server: the tour's letters, resolved and discarded, until their "
               "retention is over\n"
               "(impound ls " DEMO_WORKER_AI ".dlq --state resolved,discarded).\n");
    else if (!self)
        fprintf(stderr, "The tour ends early. The next one tidies up first what this one left "
                        "in " DEMO_WORKER_ORDERS " and " DEMO_WORKER_AI ".\n");
}

static int play(struct demo_tour *tour, bool self) {
    greet(tour->env, self);
    tour->worker = demo_worker_start(tour->env->url);
    int code = demo_tour_arrive(tour);
    if (code == 0)
        code = demo_tour_play(tour);
    bool stopped = demo_tour_is_stopped();
    if (code == 0 && !(self && stopped))
        code = demo_tour_leave(tour);
    demo_worker_stop(tour->worker);
    part(self, code);
    return code == 0 && stopped ? status_exit(STATUS_INVALID) : code;
}

static int visit(const struct cli_env *env, const struct options *options, bool self) {
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    struct demo_tour tour = {.env = env,
                             .client = client_new(env->url),
                             .asks = terminal && !options_has(options, "yes")};
    name_run(tour.run);
    int code = check_server(tour.client);
    if (code == 0)
        code = play(&tour, self);
    client_free(tour.client);
    return code;
}

static int visit_own(const struct cli_env *env, const struct options *options) {
    struct demo_server *server;
    struct cli_env own = *env;
    struct err err;
    if (demo_server_start(&server, &err) != STATUS_OK)
        return command_fail(&err);
    own.url = demo_server_url(server);
    int code = visit(&own, options, true);
    demo_server_stop(server);
    return code;
}

int cmd_demo_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    int code;
    if (!command_options(env, cmd_demo_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    demo_tour_take_signals();
    if (env->json)
        code = command_usage(env, "demo", "the tour is for people: it has no --json");
    else if (options_has(&options, "self"))
        code = visit_own(env, &options);
    else
        code = visit(env, &options, false);
    options_free(&options);
    return code;
}
