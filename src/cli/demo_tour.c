#include "cli/demo_tour.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/terminal.h"
#include "cli/verbs.h"

enum {
    POLL_MS = 50,
    PATIENCE_MS = 90 * 1000, /* an open breaker probes at the latest every 30 s */
    WORDS_MAX = 16,
    COMMAND_SIZE = 512,
    BODY_MAX = 1 << 20,
};

#define RUN "{run}" /* in a command: what this run's ids end with */

extern const char
    demo_tour_script[]; /* examples/demo/tour.txt, whose head says what its lines do */

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

void demo_tour_take_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < COMMAND_COUNT(ending); i++)
        sigaction(ending[i], &action, NULL);
}

bool demo_tour_is_stopped(void) {
    return stopped;
}

/* ---- commands ---- */

/* Cuts the text into words as a shell would; within single quotes everything is itself. */
static int split(char *text, char *words[WORDS_MAX]) {
    int count = 0;
    for (char *at = text; *at && count < WORDS_MAX - 1;) {
        bool quoted = *at == '\'';
        char *end = strchr(at + quoted, quoted ? '\'' : ' ');
        words[count++] = at + quoted;
        if (!end)
            break;
        *end = '\0';
        at = end + 1 + strspn(end + 1, " ");
    }
    words[count] = NULL;
    return count;
}

static void fill_in(const struct demo_tour *tour, const char *text, struct buf *out) {
    struct bytes rest = bytes_of(text);
    while (rest.len > 0) {
        size_t at = bytes_find(rest, BYTES(RUN));
        buf_bytes(out, bytes_cut(rest, 0, at));
        if (at < rest.len)
            buf_str(out, tour->run);
        rest = bytes_cut(rest, at + strlen(RUN), rest.len);
    }
}

static int command(const struct demo_tour *tour, const char *text) {
    char memory[COMMAND_SIZE], *words[WORDS_MAX];
    const struct cli_env *env = tour->env;
    struct buf line;
    buf_init_fixed(&line, memory, sizeof memory - 1);
    fill_in(tour, text, &line);
    printf("\n%s$ impound %s%s\n", env->color ? TERMINAL_BOLD : "", buf_cstr(&line),
           env->color ? TERMINAL_PLAIN : "");
    fflush(stdout);
    int count = split(memory, words);
    return verbs_find(env->local, words[0])->run(env, count, words);
}

/* ---- looking at the server ---- */

/* One thing's view, such as a queue's, into *answer. */
static enum status look(const struct demo_tour *tour, const char *kind, const char *name,
                        struct buf *answer, struct json *view, struct err *err) {
    struct path path;
    path_init(&path, kind);
    path_segment(&path, name);
    enum status status =
        client_send(tour->client, &(struct client_call){.path = path_text(&path)}, answer, err);
    path_free(&path);
    return status == STATUS_OK ? json_parse(buf_view(answer), view, err) : status;
}

static int64_t number_at(struct json view, const char *path) {
    int64_t number = 0;
    json_i64(field_at(view, path), &number);
    return number;
}

typedef bool reached_fn(struct json queue);

static bool is_at_rest(struct json queue) {
    return number_at(queue, "depth") == 0 && number_at(queue, "in_flight") == 0;
}

static bool is_held(struct json queue) {
    return bytes_eq(field_at(queue, "breaker.state").text, BYTES("\"open\""));
}

static int wait_until(const struct demo_tour *tour, const char *queue, reached_fn *reached) {
    static const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    struct buf answer;
    struct json view;
    struct err err;
    bool there = false;
    enum status status = STATUS_OK;
    buf_init_heap(&answer, BODY_MAX);
    for (int ms = 0; status == STATUS_OK && !there && !stopped; ms += POLL_MS) {
        if (ms > 0)
            nanosleep(&pause, NULL);
        status = look(tour, "/v1/queues", queue, &answer, &view, &err);
        there = status == STATUS_OK && reached(view);
        if (!there && ms >= PATIENCE_MS)
            status = err_set(&err, STATUS_BUSY,
                             "queue %s does not come to where the tour expects it; does another "
                             "worker lease from it, or another tour run?",
                             queue);
    }
    buf_free(&answer);
    return status == STATUS_OK ? 0 : command_fail(&err);
}

/* ---- acts ---- */

/* Several at once, as a producer would send them. */
static int push_prompts(const struct demo_tour *tour, const char *prefix, int count) {
    struct buf lines, answer;
    struct err err;
    buf_init_heap(&lines, BODY_MAX);
    buf_init_heap(&answer, BODY_MAX);
    for (int i = 1; i <= count; i++)
        buf_printf(&lines,
                   "{\"id\":\"%s-%d.%s\",\"body\":{\"model\":\"m1\",\"prompt\":\"page %d\"}}\n",
                   prefix, i, tour->run, i);
    struct client_call call = {"/v1/queues/" DEMO_WORKER_AI "/messages", "application/x-ndjson",
                               buf_view(&lines)};
    int code =
        client_send(tour->client, &call, &answer, &err) == STATUS_OK ? 0 : command_fail(&err);
    buf_free(&lines);
    buf_free(&answer);
    return code;
}

/* Signals are let in by the wait alone, so that none is missed between a look and the wait. False:
 * there is nobody, or a signal came. */
static bool wait_for_enter(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[256];
    sigset_t ours, before;
    sigemptyset(&ours);
    for (size_t i = 0; i < COMMAND_COUNT(ending); i++)
        sigaddset(&ours, ending[i]);
    sigprocmask(SIG_BLOCK, &ours, &before);
    bool ready = !stopped && ppoll(&input, 1, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready && read(STDIN_FILENO, line, sizeof line) > 0;
}

static void begin_part(struct demo_tour *tour, const char *title) {
    bool color = tour->env->color;
    if (tour->asks) {
        printf("\nPress Enter to go on. ");
        fflush(stdout);
        tour->asks = wait_for_enter();
    }
    if (!stopped)
        printf("\n%s== %s ==%s\n", color ? TERMINAL_BOLD : "", title, color ? TERMINAL_PLAIN : "");
}

/* ---- the script ---- */

static int instruct(struct demo_tour *tour, char *text) {
    static const char *const providers[] = {
        [DEMO_WORKER_UP] = "up", [DEMO_WORKER_DOWN] = "down", [DEMO_WORKER_ROTATED] = "rotated"};
    char *words[WORDS_MAX];
    int count = split(text, words);
    assert(count >= 2);
    if (strcmp(words[0], "rest") == 0)
        return wait_until(tour, words[1], is_at_rest);
    if (strcmp(words[0], "held") == 0)
        return wait_until(tour, words[1], is_held);
    if (strcmp(words[0], "prompts") == 0)
        return push_prompts(tour, words[1], count > 2 ? atoi(words[2]) : 1);
    assert(strcmp(words[0], "provider") == 0);
    for (size_t i = 0; i < COMMAND_COUNT(providers); i++)
        if (strcmp(words[1], providers[i]) == 0)
            demo_worker_set(tour->worker, (enum demo_worker_provider)i);
    return 0;
}

/* *said: the line before it belongs to the same paragraph. */
static int perform(struct demo_tour *tour, struct bytes line, bool *said) {
    static const struct bytes command_mark = BYTES("$ impound "), part_mark = BYTES("== ");
    char text[COMMAND_SIZE];
    bool goes_on = *said;
    *said = false;
    if (line.len == 0 || line.ptr[0] == '#')
        return 0;
    if (bytes_starts(line, part_mark)) {
        snprintf(text, sizeof text, "%.*s",
                 BYTES_ARG(bytes_cut(line, part_mark.len, line.len - part_mark.len)));
        begin_part(tour, text);
        return 0;
    }
    bool runs = bytes_starts(line, command_mark), instructs = bytes_starts(line, BYTES("@ "));
    if (runs || instructs) {
        size_t mark = runs ? command_mark.len : strlen("@ ");
        snprintf(text, sizeof text, "%.*s", BYTES_ARG(bytes_cut(line, mark, line.len)));
        return runs ? command(tour, text) : instruct(tour, text);
    }
    *said = true;
    printf("%s%.*s\n", goes_on ? "" : "\n", BYTES_ARG(line));
    return 0;
}

int demo_tour_play(struct demo_tour *tour) {
    struct bytes rest = bytes_of(demo_tour_script), line;
    bool said = false;
    int code = 0;
    while (code == 0 && !stopped && bytes_line(&rest, &line)) {
        code = perform(tour, line, &said);
        fflush(stdout);
    }
    return code;
}

/* ---- before and after ---- */

static const char *const queues[] = {DEMO_WORKER_ORDERS, DEMO_WORKER_AI};

static int discard(const struct demo_tour *tour, const char *queue, const char *why) {
    char dlq[COMMAND_SIZE], text[COMMAND_SIZE];
    struct buf answer;
    struct json view;
    struct err err;
    int code = 0;
    snprintf(dlq, sizeof dlq, "%s.dlq", queue);
    snprintf(text, sizeof text, "discard --dlq %.64s --why '%s' --apply", dlq, why);
    buf_init_heap(&answer, BODY_MAX);
    if (look(tour, "/v1/dlqs", dlq, &answer, &view, &err) != STATUS_OK)
        code = command_fail(&err);
    else if (number_at(view, "depth") > 0)
        code = command(tour, text);
    buf_free(&answer);
    return code;
}

static int tidy(const struct demo_tour *tour, const char *why) {
    int code = 0;
    for (size_t i = 0; i < COMMAND_COUNT(queues) && code == 0; i++) {
        code = wait_until(tour, queues[i], is_at_rest);
        if (code == 0 && !stopped)
            code = discard(tour, queues[i], why);
    }
    return code;
}

int demo_tour_arrive(struct demo_tour *tour) {
    return tidy(tour, "left by an earlier tour");
}

int demo_tour_leave(struct demo_tour *tour) {
    if (stopped)
        printf("\nTidying up; Ctrl-C leaves it as it is.\n");
    else
        printf("\nThat was the tour. What it leaves behind is given up, on the record.\n");
    fflush(stdout);
    stopped = 0;
    demo_worker_set(tour->worker, DEMO_WORKER_UP);
    return tidy(tour, "the end of the tour");
}
