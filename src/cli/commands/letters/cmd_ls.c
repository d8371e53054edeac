/* impound ls: lists letters, or the messages of a queue, newest first. */
#include "cli/commands/cmd.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/filter.h"
#include "cli/view/listing.h"
#include "cli/path.h"

#define CHUNK    ((size_t)64 * 1024)
#define ALL_PAGE "1000" /* the largest page that the server gives */

const struct options_row cmd_ls_options[] = {
    {"queue", "QUEUE", "of this queue; without DLQ, whatever it holds", 0},
    {"state", "STATE", "queued, pending_retry, pending_review, resolved, …; several with commas",
     0},
    FILTER_WORDS,
    {"limit", "N", "rows of a page (default 50, at most 1000)", 0},
    {"cursor", "CURSOR", "go on where the last page ended", 0},
    {"all", NULL, "every page", 0},
    {0},
};

static const struct listing_column columns[] = {
    {{"ID", false}, "id", NULL},
    {{"REASON", false}, "reason", NULL},
    {{"ERROR", false}, "failure.error_type", NULL},
    {{"TRIES", true}, "attempts", NULL},
    {{"DEAD AT", false}, "dead_at", field_time},
    {{"MESSAGE", false}, "message.id", NULL},
    {{"STATE", false}, "state", NULL},
    {{"DLQ", false}, "dlq", NULL},
    {{"TEXT", false}, "failure.error_message", NULL},
};

static const struct listing_column message_columns[] = {
    {{"ID", false}, "message.id", NULL},
    {{"STATE", false}, "state", NULL},
    {{"CREATED", false}, "created_at", field_time},
    {{"NEXT", false}, "next_attempt_at", field_time},
    {{"TRIES", true}, "attempts", NULL},
    {{"REASON", false}, "reason", NULL},
    {{"ERROR", false}, "failure.error_type", NULL},
    {{"TEXT", false}, "failure.error_message", NULL},
};

/* A list being printed: as a table, or as one JSON document of all pages. */
struct list_walk {
    const struct cli_env *env;
    const struct options *options;
    const char *noun; /* "letters" or "messages" */
    struct client *client;
    struct listing listing;
    struct buf answer, out;
    struct arena arena; /* of one page */
    size_t rows;
    uint64_t damaged; /* rows that the server could not read */
};

static bool all_pages(const struct list_walk *walk) {
    return options_has(walk->options, "all");
}

static void put_filters(const struct list_walk *walk, struct path *path) {
    for (const struct options_row *row = cmd_ls_options; row->name; row++) {
        char name[32];
        filter_word(row->name, name);
        if (row->value && strcmp(name, "cursor") != 0)
            path_argument(path, name, options_get(walk->options, row->name));
    }
    if (all_pages(walk) && !options_has(walk->options, "limit"))
        path_argument(path, "limit", ALL_PAGE);
}

static void put_path(const struct list_walk *walk, const char *cursor, struct path *path) {
    const struct options *options = walk->options;
    path_init(path, options->arg_count > 0 ? "/v1/dlqs" : "/v1");
    if (options->arg_count > 0)
        path_segment(path, options->args[0]);
    path_segment(path, walk->noun);
    put_filters(walk, path);
    path_argument(path, "cursor", cursor);
}

static enum status get_page(struct list_walk *walk, const char *cursor, struct json *page,
                            struct err *err) {
    struct path path;
    put_path(walk, cursor, &path);
    struct client_call call = {.path = path_text(&path)};
    enum status status = client_send(walk->client, &call, &walk->answer, err);
    path_free(&path);
    if (status == STATUS_OK)
        status = json_parse(buf_view(&walk->answer), page, err);
    return status;
}

/* Rows of a page, unchanged, appended to those of earlier pages. */
static void put_raw_rows(struct list_walk *walk, struct json rows) {
    for (struct json_walk w = json_walk(rows); json_step(&w); walk->rows++) {
        if (walk->rows > 0)
            buf_char(&walk->out, ',');
        buf_bytes(&walk->out, w.value.text);
    }
}

static void put_page(struct list_walk *walk, struct json page) {
    struct json rows = field_at(page, walk->noun);
    if (walk->env->json && all_pages(walk)) {
        put_raw_rows(walk, rows);
    } else if (walk->env->json) {
        buf_bytes(&walk->out, page.text);
        buf_char(&walk->out, '\n');
    } else {
        walk->rows += listing_page(&walk->listing, rows, &walk->arena, &walk->out);
    }
}

/* Notes about rows that the list does not show, on standard error. */
static void put_notes(const struct list_walk *walk, struct json page, struct bytes cursor) {
    int64_t count;
    if (cursor.len > 0 && !all_pages(walk))
        fprintf(stderr, "There are more: --all lists them too.\n");
    if (json_i64(field_at(page, "behind"), &count) && count > 0)
        fprintf(stderr, "The list is %lld commits behind.\n", (long long)count);
    if (json_i64(field_at(page, "skipped"), &count) && count > 0)
        fprintf(stderr, "--where failed on %lld and left them out.\n", (long long)count);
}

/* Prints one page; *cursor is then the cursor of the next page, or NULL. */
static int walk_page(struct list_walk *walk, struct arena *cursors, const char **cursor) {
    struct json page;
    struct err err;
    if (get_page(walk, *cursor, &page, &err) != STATUS_OK)
        return command_fail(&err);
    arena_init_heap(&walk->arena, CHUNK);
    put_page(walk, page);
    struct bytes next = field_text(page, "cursor", &walk->arena);
    *cursor = next.len > 0 ? arena_cstr(cursors, next) : NULL;
    if (!walk->env->json)
        put_notes(walk, page, next);
    for (struct json_walk w = json_walk(field_at(page, "damaged")); json_step(&w);)
        walk->damaged++;
    arena_free(&walk->arena);
    int code = command_write(buf_view(&walk->out));
    buf_clear(&walk->out);
    return code;
}

static int walk_pages(struct list_walk *walk) {
    const char *cursor = options_get(walk->options, "cursor");
    struct arena cursors;
    arena_init_heap(&cursors, CHUNK);
    int code = walk_page(walk, &cursors, &cursor);
    while (code == 0 && cursor && all_pages(walk))
        code = walk_page(walk, &cursors, &cursor);
    arena_free(&cursors);
    return code;
}

static int list(struct list_walk *walk) {
    bool letters = walk->options->arg_count > 0 || !options_has(walk->options, "queue");
    bool document = walk->env->json && all_pages(walk);
    walk->noun = letters ? "letters" : "messages";
    listing_init(&walk->listing, walk->env, letters ? columns : message_columns,
                 letters ? COMMAND_COUNT(columns) : COMMAND_COUNT(message_columns));
    if (document)
        buf_printf(&walk->out, "{\"%s\":[", walk->noun);
    int code = walk_pages(walk);
    if (document && code == 0)
        code = command_write(BYTES("],\"cursor\":null}\n"));
    if (code == 0 && walk->damaged > 0)
        code = command_damaged(walk->damaged);
    listing_free(&walk->listing);
    return code;
}

int cmd_ls_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_ls_options, argc, argv, 0, 1, &options))
        return status_exit(STATUS_USAGE);
    struct list_walk walk = {.env = env, .options = &options, .client = client_new(env->url)};
    buf_init_heap(&walk.answer, COMMAND_ANSWER_MAX);
    buf_init_heap(&walk.out, COMMAND_ANSWER_MAX);
    int code = list(&walk);
    buf_free(&walk.answer);
    buf_free(&walk.out);
    client_free(walk.client);
    options_free(&options);
    return code;
}
