/* letter_verbs: sends decisions (decision) to the server, in calls of bounded size. */
#include "cli/commands/letters/letter_verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/progress.h"

/* Letters changed by one call at most, so that no call takes long and progress can be shown. */
enum { PER_CALL = 10000, BODY_MAX = 16 * 1024 * 1024, IDS_MAX = 100000, CHUNK = 4096 };

/* Sums over the calls so far. */
struct sum {
    uint64_t matched, count, busy, unable;
    struct arena arena; /* memory of the cursor */
    const char *cursor; /* cursor of the next call; NULL: at the start, or no more */
    const char *until;  /* from the dry run; NULL: none */
    struct buf answer;  /* the last one */
};

struct decide_request {
    const struct cli_env *env;
    const struct decide_verb *verb;
    const struct options *options;
    struct client *client;
    struct sum sum;
};

/* Letters have states of their own: queued, pending_retry, running and retrying are waiting
 * messages'. */
static bool is_of_messages(const struct decide_request *order) {
    const char *state = options_get(order->options, "state");
    bool waiting =
        state && (strstr(state, "queued") || strstr(state, "retry") || strstr(state, "running"));
    return order->verb->messages || (order->verb->may_be_messages && waiting);
}

static const char *noun_of(const struct decide_request *order) {
    return is_of_messages(order) ? "message" : "letter";
}

/* ---- one letter ---- */

static void view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    (void)env;
    struct bytes escalated = field_time(answer, "escalated_at", arena);
    struct bytes id = field_text(answer, "id", arena), state = field_text(answer, "state", arena);
    if (escalated.len > 0 && bytes_is(state, "pending_review"))
        buf_printf(out, "%.*s is escalated\n", BYTES_ARG(id));
    else if (bytes_is(state, "replaying")) /* of these verbs, only compensate leads to it */
        buf_printf(out, "%.*s is given to its compensating handler\n", BYTES_ARG(id));
    else
        buf_printf(out, "%.*s is %.*s\n", BYTES_ARG(id), BYTES_ARG(state));
}

static int run_one(const struct decide_request *order) {
    struct path path;
    struct buf body;
    buf_init_heap(&body, BODY_MAX);
    struct json_out json = json_out(&body);
    json_open(&json, '{');
    if (options_has(order->options, "why")) {
        json_key(&json, "why");
        json_put_str(&json, options_get(order->options, "why"));
    }
    json_close(&json, '}');
    bool message = order->verb->messages || order->verb->may_be_messages;
    path_init(&path, message ? "/v1/messages" : "/v1/letters");
    path_segment(&path, order->options->args[0]);
    path_segment(&path, order->verb->name);
    path_argument(&path, "queue", options_get(order->options, "queue"));
    struct client_call call = {path_text(&path), "application/json", buf_view(&body)};
    int code = command_show(order->env, &call, view_one);
    path_free(&path);
    buf_free(&body);
    return code;
}

/* ---- many ---- */

static void put_body(const struct decide_request *order, bool dry_run, uint64_t limit,
                     struct buf *body) {
    struct json_out json = json_out(body);
    const char *why = options_get(order->options, "why");
    json_open(&json, '{');
    filter_put(order->options, order->sum.until, &json);
    if (limit > 0 && !options_has(order->options, "limit")) {
        json_key(&json, "limit");
        json_put_i64(&json, (int64_t)limit);
    }
    if (order->sum.cursor) {
        json_key(&json, "cursor");
        json_put_str(&json, order->sum.cursor);
    }
    if (why) {
        json_key(&json, "why");
        json_put_str(&json, why);
    }
    json_key(&json, "dry_run");
    json_put_bool(&json, dry_run);
    json_close(&json, '}');
}

static uint64_t number_at(struct json answer, const char *path) {
    int64_t number = 0;
    json_i64(field_at(answer, path), &number);
    return number > 0 ? (uint64_t)number : 0;
}

static void add_answer(struct sum *sum) {
    struct json answer;
    struct bytes cursor;
    json_parse(buf_view(&sum->answer), &answer, NULL); /* checked by client_send */
    sum->matched += number_at(answer, "matched");
    sum->count += number_at(answer, "count");
    sum->busy += number_at(answer, "busy");
    sum->unable += number_at(answer, "unable");
    cursor = field_text(answer, "cursor", &sum->arena);
    sum->cursor = cursor.len > 0 ? arena_cstr(&sum->arena, cursor) : NULL;
    struct bytes until = field_text(answer, "until", &sum->arena);
    if (!sum->until && until.len > 0) /* the first answer has the newest */
        sum->until = arena_cstr(&sum->arena, until);
    uint64_t read_only = number_at(answer, "read_only");
    if (read_only > 0)
        fprintf(stderr, "%llu are read-only and were left alone: their broker still has them.\n",
                (unsigned long long)read_only);
    uint64_t damaged = number_at(answer, "damaged");
    if (damaged > 0)
        fprintf(stderr,
                "%llu cannot be read and were left alone; run impound doctor for details.\n",
                (unsigned long long)damaged);
    uint64_t skipped = number_at(answer, "skipped");
    if (skipped > 0)
        fprintf(stderr, "--where failed on %llu and left them out.\n", (unsigned long long)skipped);
}

static int ask(struct decide_request *order, bool dry_run, uint64_t limit) {
    struct path path;
    struct buf body;
    struct err err;
    buf_init_heap(&body, BODY_MAX);
    put_body(order, dry_run, limit, &body);
    path_init(&path, is_of_messages(order) ? "/v1/messages" : "/v1/letters");
    path_segment(&path, order->verb->name);
    struct client_call call = {path_text(&path), "application/json", buf_view(&body)};
    enum status status = client_send(order->client, &call, &order->sum.answer, &err);
    if (status == STATUS_OK)
        add_answer(&order->sum);
    path_free(&path);
    buf_free(&body);
    return status == STATUS_OK ? 0 : command_fail(&err);
}

/* A slow --where is answered in parts. */
static int look(struct decide_request *order) {
    int code;
    do {
        code = ask(order, true, 0);
    } while (code == 0 && order->sum.cursor && !options_has(order->options, "limit"));
    return code;
}

static int run_dry(struct decide_request *order) {
    int code = look(order);
    if (code != 0 || order->env->json)
        return code;
    printf("%llu %s%s would be %s%s\n", (unsigned long long)order->sum.count, noun_of(order),
           order->sum.count == 1 ? "" : "s", order->verb->done,
           order->sum.count > 0 ? "; --apply does it" : "");
    if (order->sum.count > 0 && order->sum.until)
        printf("With --until %s%s it is these and none that came since.\n", order->sum.until,
               options_has(order->options, "all") ? " instead of --all" : "");
    return 0;
}

static int run_wet(struct decide_request *order) {
    struct progress progress;
    int code = look(order);
    if (code != 0)
        return code;
    progress_begin(&progress, "letters", order->sum.count, order->env->json);
    order->sum.matched = order->sum.count = order->sum.busy = order->sum.unable = 0;
    order->sum.cursor = NULL;
    do {
        code = ask(order, false, order->options->arg_count > 0 ? 0 : PER_CALL);
        progress_show(&progress, order->sum.count, "");
    } while (code == 0 && order->sum.cursor && !options_has(order->options, "limit"));
    progress_end(&progress);
    if (code == 0 && !order->env->json)
        printf("%llu %s%s %s\n", (unsigned long long)order->sum.count, noun_of(order),
               order->sum.count == 1 ? "" : "s", order->verb->done);
    return code;
}

static void print_sum(const struct decide_request *order, bool dry_run) {
    char memory[512];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(
        &text, "{\"action\":\"%s\",\"dry_run\":%s,\"matched\":%llu,\"count\":%llu,\"busy\":%llu",
        order->verb->name, dry_run ? "true" : "false", (unsigned long long)order->sum.matched,
        (unsigned long long)order->sum.count, (unsigned long long)order->sum.busy);
    if (dry_run && order->sum.until)
        buf_printf(&text, ",\"until\":\"%s\"", order->sum.until);
    buf_str(&text, "}\n");
    command_write(buf_view(&text));
}

static int run_many(struct decide_request *order, bool apply) {
    order->client = client_new(order->env->url);
    buf_init_heap(&order->sum.answer, COMMAND_ANSWER_MAX);
    arena_init_heap(&order->sum.arena, CHUNK);
    int code = apply ? run_wet(order) : run_dry(order);
    if (code == 0 && order->env->json)
        print_sum(order, !apply);
    if (code == 0 && order->sum.busy > 0 && !order->env->json)
        fprintf(stderr, "%llu are being %s, or were decided meanwhile: left alone.\n",
                (unsigned long long)order->sum.busy,
                is_of_messages(order) ? "handled" : "replayed");
    if (code == 0 && order->sum.unable > 0 && !order->env->json)
        fprintf(stderr,
                "%llu belong to queues without a compensate handler and were not changed.\n",
                (unsigned long long)order->sum.unable);
    arena_free(&order->sum.arena);
    buf_free(&order->sum.answer);
    client_free(order->client);
    return code;
}

int decide_run(const struct cli_env *env, const struct decide_verb *verb, int argc, char **argv) {
    struct options options;
    int code;
    if (!command_options(env, verb->options, argc, argv, 0, IDS_MAX, &options))
        return status_exit(STATUS_USAGE);
    struct decide_request order = {.env = env, .verb = verb, .options = &options};
    bool apply = options_has(&options, "apply") || (verb->ids_act && options.arg_count > 0);
    bool one = options.arg_count == 1 && (apply || verb->one_acts);
    if (!filter_given(&options))
        code = command_unfiltered(verb->name);
    else if ((apply || one) && !verb->ids_act && !options_get(&options, "why"))
        code = command_usage(env, verb->name, "--why is missing: say why, for the audit");
    else
        code = one ? run_one(&order) : run_many(&order, apply);
    options_free(&options);
    return code;
}
