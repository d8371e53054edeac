/* impound import: imports letters from exports, archives and spill files, a part of a file at a
 * time. */
#include "cli/commands/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/view/progress.h"
#include "triage/archive/frames.h"
#include "triage/archive/manifest.h"

enum { FILES_MAX = 100000, PART_BYTES = 1024 * 1024, CHUNK = 4096 };

struct import_command {
    const struct cli_env *env;
    struct client *client;
    struct buf answer;
    const char *name;
    uint64_t lines; /* of the current file */
    uint64_t imported, present, changed, refused;
    uint64_t damaged; /* archives that do not match their manifest */
};

static uint64_t number_at(struct json answer, const char *path) {
    int64_t number = 0;
    json_i64(field_at(answer, path), &number);
    return number > 0 ? (uint64_t)number : 0;
}

/* ---- parts ---- */

static size_t lines_part(struct bytes data) {
    if (data.len <= PART_BYTES)
        return data.len;
    struct bytes rest = bytes_cut(data, PART_BYTES, data.len);
    size_t end = bytes_find(rest, BYTES("\n"));
    return PART_BYTES + (end < rest.len ? end + 1 : end);
}

static size_t frames_part(struct bytes data) {
    struct frames frames;
    struct bytes text;
    const char *why;
    frames_init(&frames, data);
    while (data.len - frames.rest.len < PART_BYTES &&
           frames_next(&frames, &text, &why) != FRAMES_END)
        ;
    size_t len = data.len - frames.rest.len;
    frames_free(&frames);
    return len;
}

/* ---- answers ---- */

static void tell(const struct import_command *import, struct json list, const char *key,
                 const char *before) {
    struct arena arena;
    arena_init_heap(&arena, CHUNK);
    for (struct json_walk walk = json_walk(list); json_step(&walk);) {
        struct err err;
        struct bytes text = field_text(walk.value, key, &arena);
        err_set(&err, STATUS_INVALID, "%s: line %llu: %s%.*s", import->name,
                (unsigned long long)(import->lines + number_at(walk.value, "line")), before,
                BYTES_ARG(text));
        command_fail(&err);
    }
    arena_free(&arena);
}

static void take_answer(struct import_command *import) {
    struct json answer;
    json_parse(buf_view(&import->answer), &answer, NULL); /* checked by client_send */
    tell(import, field_at(answer, "refused"), "why", "");
    tell(import, field_at(answer, "changed"), "id", "it has changed since, and stays: ");
    import->lines += number_at(answer, "lines");
    import->imported += number_at(answer, "imported");
    import->present += number_at(answer, "present");
    import->changed += number_at(answer, "changed_count");
    import->refused += number_at(answer, "refused_count");
}

/* ---- files ---- */

/* Intact letters of a damaged archive are imported nevertheless. */
static void check_archive(struct import_command *import, struct bytes data) {
    struct err why, err;
    if (manifest_check(import->name, data, &why) == STATUS_OK)
        return;
    err_set(&err, why.status, "%s: %s", import->name, why.text);
    command_fail(&err);
    import->damaged++;
}

static int import_data(struct import_command *import, struct bytes data) {
    bool frames = frames_begin(data);
    struct progress progress;
    struct err err;
    enum status status = STATUS_OK;
    import->lines = 0;
    check_archive(import, data);
    progress_begin(&progress, "bytes", data.len, import->env->json);
    for (size_t at = 0; at < data.len && status == STATUS_OK;) {
        struct bytes rest = bytes_cut(data, at, data.len);
        size_t len = frames ? frames_part(rest) : lines_part(rest);
        struct client_call call = {"/v1/imports",
                                   frames ? "application/zstd" : "application/x-ndjson",
                                   bytes_cut(rest, 0, len)};
        status = client_send(import->client, &call, &import->answer, &err);
        if (status == STATUS_OK)
            take_answer(import);
        at += len;
        progress_show(&progress, at, "");
    }
    progress_end(&progress);
    return status == STATUS_OK ? 0 : command_fail(&err);
}

static int trouble(const char *name) {
    struct err err;
    err_set(&err, STATUS_INVALID, "%s: %s", name, strerror(errno));
    return command_fail(&err);
}

static int import_file(struct import_command *import, const char *name) {
    struct stat stat;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return trouble(name);
    int code = 0;
    void *memory = NULL;
    if (fstat(fd, &stat) != 0)
        code = trouble(name);
    else if (stat.st_size > 0)
        memory = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        code = trouble(name);
    else if (code == 0 && memory)
        code = import_data(import, (struct bytes){memory, (size_t)stat.st_size});
    if (memory && memory != MAP_FAILED)
        munmap(memory, (size_t)stat.st_size);
    close(fd);
    return code;
}

static int print_sum(const struct import_command *import) {
    char memory[512];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    if (import->env->json)
        buf_printf(&text,
                   "{\"imported\":%llu,\"present\":%llu,\"changed\":%llu,\"refused\":%llu}\n",
                   (unsigned long long)import->imported, (unsigned long long)import->present,
                   (unsigned long long)import->changed, (unsigned long long)import->refused);
    else
        buf_printf(&text, "%llu letter%s imported, %llu here already, %llu line%s refused\n",
                   (unsigned long long)import->imported, import->imported == 1 ? "" : "s",
                   (unsigned long long)import->present, (unsigned long long)import->refused,
                   import->refused == 1 ? "" : "s");
    int code = command_write(buf_view(&text));
    return code == 0 && import->refused + import->damaged > 0 ? status_exit(STATUS_INVALID) : code;
}

int cmd_import_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    int code = 0;
    if (!command_options(env, NULL, argc, argv, 1, FILES_MAX, &options))
        return status_exit(STATUS_USAGE);
    struct import_command import = {.env = env, .client = client_new(env->url)};
    buf_init_heap(&import.answer, COMMAND_ANSWER_MAX);
    for (size_t i = 0; i < options.arg_count && code == 0; i++) {
        import.name = options.args[i];
        code = import_file(&import, options.args[i]);
    }
    if (code == 0)
        code = print_sum(&import);
    buf_free(&import.answer);
    client_free(import.client);
    options_free(&options);
    return code;
}
