/* impound export: complete letters as NDJSON, to standard output or a file. */
#include "cli/commands/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/filter.h"

enum { BODY_MAX = 16 * 1024 * 1024, IDS_MAX = 100000 };

const struct options_row cmd_export_options[] = {
    FILTER_ACTION_OR_ALL("every letter, in any state, as without a filter"),
    FILTER_STATE,
    {"output", "FILE", "instead of standard output; as zstd when it ends in .zst", 'o'},
    {0},
};

/* An export changes nothing: without a filter it contains every letter, in any state. */
static void put_body(const struct options *options, bool compress, struct buf *body) {
    struct json_out json = json_out(body);
    json_open(&json, '{');
    filter_put(options, NULL, &json);
    if (!filter_given(options)) {
        json_key(&json, "all");
        json_put_bool(&json, true);
    }
    json_key(&json, "compress");
    json_put_str(&json, compress ? "zstd" : "none");
    json_close(&json, '}');
}

static int fetch(const struct cli_env *env, const struct options *options, bool compress,
                 FILE *into, bool quiet, uint64_t *damaged) {
    struct client *client = client_new(env->url);
    struct progress progress;
    struct buf body;
    struct err err;
    buf_init_heap(&body, BODY_MAX);
    put_body(options, compress, &body);
    struct client_call call = {"/v1/exports", "application/json", buf_view(&body)};
    progress_begin(&progress, "bytes", 0, quiet);
    enum status status = client_fetch(client, &call, into, &progress, &err);
    progress_end(&progress);
    uint64_t skipped = client_skipped(client);
    if (skipped > 0)
        fprintf(stderr, "--where failed on %llu and left them out.\n", (unsigned long long)skipped);
    *damaged = client_damaged(client);
    buf_free(&body);
    client_free(client);
    return status == STATUS_OK ? 0 : command_fail(&err);
}

static int trouble(const char *name) {
    struct err err;
    err_set(&err, STATUS_IO, "%s: %s", name, strerror(errno));
    return command_fail(&err);
}

/* The file gets its name only when it is complete. */
static int export_file(const struct cli_env *env, const struct options *options, const char *name) {
    char *part;
    if (asprintf(&part, "%s.part", name) < 0)
        abort();
    FILE *file = fopen(part, "we");
    if (!file) {
        free(part);
        return trouble(name);
    }
    uint64_t damaged;
    int code =
        fetch(env, options, bytes_ends(bytes_of(name), BYTES(".zst")), file, env->json, &damaged);
    bool safe = fflush(file) == 0 && fsync(fileno(file)) == 0;
    safe = fclose(file) == 0 && safe;
    if (code == 0 && (!safe || rename(part, name) != 0))
        code = trouble(name);
    if (code != 0)
        unlink(part);
    free(part);
    return code == 0 && damaged > 0 ? command_damaged(damaged) : code;
}

static int export_output(const struct cli_env *env, const struct options *options) {
    uint64_t damaged;
    int code = fetch(env, options, false, stdout, true, &damaged);
    if (code == 0 && fflush(stdout) != 0)
        code = trouble("standard output");
    return code == 0 && damaged > 0 ? command_damaged(damaged) : code;
}

int cmd_export_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, cmd_export_options, argc, argv, 0, IDS_MAX, &options))
        return status_exit(STATUS_USAGE);
    const char *name = options_get(&options, "output");
    int code = name && strcmp(name, "-") != 0 ? export_file(env, &options, name)
                                              : export_output(env, &options);
    options_free(&options);
    return code;
}
