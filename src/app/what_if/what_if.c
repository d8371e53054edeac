/* impound what-if: judges stored letters again under another file's rules, changing nothing. The
 * letters are read through the server's API; the judgement is made in this process. */
#include <inttypes.h>
#include <stdio.h>

#include "app/what_if/rejudge.h"
#include "app/local_verbs.h"
#include "app/what_if/what_if_tally.h"
#include "app/program_check.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/filter.h"
#include "cli/path.h"

enum { CHUNK = 64 * 1024, MISTAKES_MAX = 16 << 20 };
#define PAGE "1000" /* the server's largest page */

const struct options_row what_if_options[] = {
    {"rules", "FILE", "the configuration whose rules are tried", 0},
    {"dlq", "DLQ", "of this DLQ", 0},
    {"queue", "QUEUE", "of this queue", 0},
    {"state", "STATE", "pending_review, resolved, …; several with commas", 0},
    FILTER_WORDS,
    {"limit", "N", "at most so many, the newest", 0},
    {0},
};

struct what_if {
    const struct cli_env *env;
    const struct options *options;
    struct client *client;
    struct rejudge *rejudge;
    struct what_if_tally tally;
    struct buf page, letter; /* the server's answers */
    uint64_t left;           /* letters still to be judged */
};

static enum status fetch_letter(void *arg, struct bytes letter_id, struct bytes queue,
                                struct bytes *json, struct err *err) {
    struct what_if *run = arg;
    struct arena arena;
    struct path path;
    arena_init_heap(&arena, CHUNK);
    path_init(&path, "/v1/letters");
    path_segment(&path, arena_cstr(&arena, letter_id));
    path_argument(&path, "queue", arena_cstr(&arena, queue));
    struct client_call call = {.path = path_text(&path)};
    enum status status = client_send(run->client, &call, &run->letter, err);
    *json = buf_view(&run->letter);
    path_free(&path);
    arena_free(&arena);
    return status;
}

static enum status judge_row(struct what_if *run, struct json row, struct arena *arena,
                             struct err *err) {
    struct envelope envelope;
    struct decision decision;
    enum rejudge_kind kind;
    if (envelope_decode(row.text, arena, &envelope, err) != STATUS_OK)
        return err->status;
    envelope.letter_id = field_text(row, "id", arena);
    enum status status = rejudge_letter(run->rejudge, &envelope, &kind, &decision, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* the letter was removed meanwhile */
    if (status != STATUS_OK)
        return status;
    if (kind == REJUDGED)
        what_if_tally_add(&run->tally, &envelope, &decision);
    else
        *(kind == REJUDGE_NO_QUEUE ? &run->tally.no_queue : &run->tally.no_failure) += 1;
    return STATUS_OK;
}

static void put_path(const struct what_if *run, const char *cursor, struct path *path) {
    path_init(path, "/v1/letters");
    for (const struct options_row *row = what_if_options; row->name; row++) {
        char name[32];
        filter_word(row->name, name);
        if (!bytes_is(bytes_of(name), "rules") && !bytes_is(bytes_of(name), "limit"))
            path_argument(path, name, options_get(run->options, row->name));
    }
    path_argument(path, "limit", PAGE);
    path_argument(path, "cursor", cursor);
}

static enum status judge_page(struct what_if *run, struct arena *cursors, const char **cursor,
                              struct err *err) {
    struct path path;
    struct json page;
    struct arena arena;
    put_path(run, *cursor, &path);
    enum status status =
        client_send(run->client, &(struct client_call){.path = path_text(&path)}, &run->page, err);
    path_free(&path);
    if (status == STATUS_OK)
        status = json_parse(buf_view(&run->page), &page, err);
    if (status != STATUS_OK)
        return status;
    arena_init_heap(&arena, CHUNK);
    struct json_walk rows = json_walk(field_at(page, "letters"));
    for (; status == STATUS_OK && run->left > 0 && json_step(&rows); run->left--)
        status = judge_row(run, rows.value, &arena, err);
    struct bytes next = field_text(page, "cursor", &arena);
    *cursor = next.len && run->left > 0 ? arena_cstr(cursors, next) : NULL;
    arena_free(&arena);
    return status;
}

static int show(const struct what_if *run) {
    struct buf out;
    uint64_t jq_errors = rejudge_jq_errors(run->rejudge);
    buf_init_heap(&out, COMMAND_ANSWER_MAX);
    if (run->env->json)
        what_if_tally_json(&run->tally, jq_errors, &out);
    else
        what_if_tally_print(&run->tally, run->env, &out);
    if (jq_errors && !run->env->json)
        fprintf(stderr, "jq failed %" PRIu64 " times; those rules did not match.\n", jq_errors);
    int code = command_write(buf_view(&out));
    buf_free(&out);
    return code;
}

static int judge_all(struct what_if *run) {
    const char *cursor = NULL;
    struct arena cursors;
    struct err err;
    enum status status;
    arena_init_heap(&cursors, CHUNK);
    do
        status = judge_page(run, &cursors, &cursor, &err);
    while (status == STATUS_OK && cursor);
    arena_free(&cursors);
    return status == STATUS_OK ? show(run) : command_fail(&err);
}

static int with_rules(struct what_if *run, const struct config *config) {
    struct err err;
    what_if_tally_init(&run->tally);
    run->client = client_new(run->env->url);
    buf_init_heap(&run->page, COMMAND_ANSWER_MAX);
    buf_init_heap(&run->letter, COMMAND_ANSWER_MAX);
    int code;
    if (rejudge_new(config, fetch_letter, run, &run->rejudge, &err) == STATUS_OK)
        code = judge_all(run);
    else
        code = command_fail(&err);
    rejudge_free(run->rejudge);
    buf_free(&run->page);
    buf_free(&run->letter);
    client_free(run->client);
    what_if_tally_free(&run->tally);
    return code;
}

static int load_and_run(struct what_if *run) {
    struct config *config = NULL;
    struct buf mistakes;
    buf_init_heap(&mistakes, MISTAKES_MAX);
    enum status status = config_load(options_get(run->options, "rules"), &config, &mistakes);
    if (status == STATUS_OK)
        status = program_check(config, &mistakes);
    if (status != STATUS_OK)
        fprintf(stderr, "%s", buf_cstr(&mistakes));
    int code = status == STATUS_OK ? with_rules(run, config) : status_exit(STATUS_INVALID);
    buf_free(&mistakes);
    config_free(config);
    return code;
}

int what_if_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    uint64_t limit = UINT64_MAX;
    if (!command_options(env, what_if_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    const char *said = options_get(&options, "limit");
    struct what_if run = {.env = env, .options = &options};
    int code;
    if (!options_has(&options, "rules"))
        code = command_usage(env, argv[0], "--rules is missing: which file's rules?");
    else if (said && (!bytes_u64(bytes_of(said), &limit) || limit == 0))
        code = command_usage(env, argv[0], "--limit: expected a number, got \"%s\"", said);
    else {
        run.left = limit;
        code = load_and_run(&run);
    }
    options_free(&options);
    return code;
}
