/* bulk: reads the file line by line and sends requests of bounded size. */
#include "cli/commands/letters/bulk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/safe_text.h"

#define CHUNK ((size_t)64 * 1024)

struct bulk_push {
    const struct cli_env *env;
    struct client *client;
    const char *path;
    const char *name; /* of the file, for messages */
    FILE *file;
    size_t line; /* read so far */
    size_t pushed, duplicate_count;
    struct buf body, answer, out;
    struct buf duplicates;        /* raw JSON texts, with commas; for --json */
    size_t lines[BULK_LINES_MAX]; /* request line → file line */
    size_t line_count;
};

/* ---- answers ---- */

static void put_id(struct bulk_push *bulk, struct json id, struct arena *arena) {
    struct bytes text = BYTES("");
    if (bulk->env->json) {
        if (bulk->pushed > 0)
            buf_char(&bulk->out, ',');
        buf_bytes(&bulk->out, id.text);
    } else {
        json_string(id, arena, &text);
        text_put(&bulk->out, text);
        buf_char(&bulk->out, '\n');
    }
    bulk->pushed++;
}

static void note_duplicate(struct bulk_push *bulk, struct json id) {
    if (bulk->env->json) {
        if (bulk->duplicate_count > 0)
            buf_char(&bulk->duplicates, ',');
        buf_bytes(&bulk->duplicates, id.text);
    }
    bulk->duplicate_count++;
}

static int show_answer(struct bulk_push *bulk) {
    struct json answer;
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    json_parse(buf_view(&bulk->answer), &answer, NULL); /* checked by client_send */
    for (struct json_walk w = json_walk(field_at(answer, "ids")); json_step(&w);)
        put_id(bulk, w.value, &arena);
    for (struct json_walk w = json_walk(field_at(answer, "duplicates")); json_step(&w);)
        note_duplicate(bulk, w.value);
    arena_free(&arena);
    int code = command_write(buf_view(&bulk->out));
    buf_clear(&bulk->out);
    return code;
}

/* The server counts lines within the request; messages name the file's lines. */
static void name_line(const struct bulk_push *bulk, const struct err *why, struct err *out) {
    size_t refused = client_refused_line(bulk->client);
    struct bytes detail = bytes_of(why->text);
    if (refused == 0 || refused > bulk->line_count) {
        *out = *why;
        return;
    }
    size_t colon = bytes_find(detail, BYTES(": "));
    if (bytes_starts(detail, BYTES("line ")) && colon < detail.len)
        detail = bytes_cut(detail, colon + 2, detail.len);
    err_set(out, why->status, "%s: line %zu: %.*s", bulk->name, bulk->lines[refused - 1],
            BYTES_ARG(detail));
}

/* A request without an answer may have been stored nevertheless. */
static int give_up(const struct bulk_push *bulk, const struct err *why) {
    struct err err;
    size_t first = bulk->lines[0], last = bulk->lines[bulk->line_count - 1];
    name_line(bulk, why, &err);
    int code = command_fail(&err);
    if (first > 1)
        fprintf(stderr, "Pushed before: %zu, up to line %zu. ", bulk->pushed, first - 1);
    if (why->status == STATUS_UNREACHABLE)
        fprintf(stderr, "Lines %zu to %zu may or may not be stored.\n", first, last);
    else if (first == 1)
        fprintf(stderr, "Nothing is stored.\n");
    else
        fprintf(stderr, "Nothing from line %zu on is stored.\n", first);
    return code;
}

/* ---- requests ---- */

static int send_lines(struct bulk_push *bulk) {
    assert(bulk->line_count <= BULK_LINES_MAX);
    struct err err;
    if (bulk->line_count == 0)
        return 0;
    struct client_call call = {bulk->path, "application/x-ndjson", buf_view(&bulk->body)};
    if (client_send(bulk->client, &call, &bulk->answer, &err) != STATUS_OK)
        return give_up(bulk, &err);
    buf_clear(&bulk->body);
    bulk->line_count = 0;
    return show_answer(bulk);
}

static int add_line(struct bulk_push *bulk, struct bytes line) {
    assert(bulk->line_count <= BULK_LINES_MAX);
    bool full = bulk->line_count == BULK_LINES_MAX || bulk->body.len + line.len >= BULK_BYTES_MAX;
    int code = full ? send_lines(bulk) : 0;
    if (code != 0)
        return code;
    bulk->lines[bulk->line_count++] = bulk->line;
    buf_bytes(&bulk->body, line);
    buf_char(&bulk->body, '\n');
    return 0;
}

static int too_long(const struct bulk_push *bulk) {
    struct err err;
    err_set(&err, STATUS_INVALID, "%s: line %zu is longer than %d bytes", bulk->name, bulk->line,
            BULK_LINE_MAX);
    return command_fail(&err);
}

static int push_lines(struct bulk_push *bulk) {
    char *memory = NULL;
    size_t size = 0;
    ssize_t len;
    int code = 0;
    while (code == 0 && (len = getline(&memory, &size, bulk->file)) >= 0) {
        struct bytes line = bytes_trim((struct bytes){memory, (size_t)len});
        bulk->line++;
        if (line.len > BULK_LINE_MAX)
            code = too_long(bulk);
        else if (line.len > 0)
            code = add_line(bulk, line);
    }
    bool broken = ferror(bulk->file);
    free(memory);
    if (code == 0)
        code = send_lines(bulk);
    if (code == 0 && broken) {
        struct err err;
        err_set(&err, STATUS_IO, "%s could not be read behind line %zu", bulk->name, bulk->line);
        code = command_fail(&err);
    }
    return code;
}

static void put_end(struct bulk_push *bulk) {
    if (bulk->env->json) {
        buf_str(&bulk->out, "],\"duplicates\":[");
        buf_bytes(&bulk->out, buf_view(&bulk->duplicates));
        buf_str(&bulk->out, "]}\n");
        return;
    }
    buf_printf(&bulk->out, "pushed %zu message%s", bulk->pushed - bulk->duplicate_count,
               bulk->pushed - bulk->duplicate_count == 1 ? "" : "s");
    if (bulk->duplicate_count > 0)
        buf_printf(&bulk->out, "; %zu were held already", bulk->duplicate_count);
    buf_char(&bulk->out, '\n');
}

static struct bulk_push *bulk_new(const struct cli_env *env, struct client *client,
                                  const char *path, FILE *file, const char *name) {
    struct bulk_push *bulk = memory_new(sizeof *bulk);
    *bulk =
        (struct bulk_push){.env = env, .client = client, .path = path, .name = name, .file = file};
    buf_init_heap(&bulk->body, (size_t)BULK_BYTES_MAX + BULK_LINE_MAX + 1);
    buf_init_heap(&bulk->answer, COMMAND_ANSWER_MAX);
    buf_init_heap(&bulk->out, COMMAND_ANSWER_MAX);
    buf_init_heap(&bulk->duplicates, COMMAND_ANSWER_MAX);
    return bulk;
}

static void bulk_free(struct bulk_push *bulk) {
    buf_free(&bulk->body);
    buf_free(&bulk->answer);
    buf_free(&bulk->out);
    buf_free(&bulk->duplicates);
    free(bulk);
}

int bulk_push(const struct cli_env *env, struct client *client, const char *path, FILE *file,
              const char *name) {
    struct bulk_push *bulk = bulk_new(env, client, path, file, name);
    if (env->json)
        buf_str(&bulk->out, "{\"ids\":[");
    int code = push_lines(bulk);
    if (code == 0) {
        put_end(bulk);
        code = command_write(buf_view(&bulk->out));
    }
    bulk_free(bulk);
    return code;
}
