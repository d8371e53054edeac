/* impound bench: measures this machine and this disk, in a temporary folder that it removes. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/bench_figures.h"
#include "app/bench_queue.h"
#include "config/config.h"
#include "config/table/config_path.h"
#include "app/local_verbs.h"
#include "base/tempdir.h"
#include "base/instant.h"
#include "base/json/json_member.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/view/listing.h"

enum { SECONDS = 2, SECONDS_MAX = 60, TEXT_MAX = 64 << 10, CHUNK = 4 << 10 };

const struct options_row bench_options[] = {
    {"config", "FILE", "the configuration that names the store (default impound.yaml)", 'c'},
    {"dir", "DIR", "measure in this folder instead of the store's", 0},
    {"seconds", "N", "how long each figure takes at the most (default 2)", 0},
    {0},
};

struct bench {
    char above[PATH_MAX], dir[PATH_MAX]; /* the folder of the option, and the temporary one in it */
    uint64_t seconds;
    struct bench_figure figures[BENCH_FIGURES_COUNT];
    double queue_per_second;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* ---- the folder ---- */

static enum status find_store(const char *path, struct bench *bench, struct err *err) {
    struct config *config = NULL;
    struct buf mistakes;
    buf_init_heap(&mistakes, TEXT_MAX);
    enum status status = local_verbs_load(path, &config, &mistakes);
    if (status == STATUS_OK) {
        struct bytes dir = config_path_dir(&config->arena, config->store_path.ptr);
        snprintf(bench->above, sizeof bench->above, "%.*s", BYTES_ARG(dir));
    } else {
        fprintf(stderr, "%s", buf_cstr(&mistakes));
        err_set(err, STATUS_INVALID, "the folder of the store is not known; --dir DIR says one");
    }
    buf_free(&mistakes);
    config_free(config);
    return status;
}

static enum status look_for_room(const struct bench *bench, struct err *err) {
    struct statvfs disk;
    char memory[32];
    struct buf room;
    if (statvfs(bench->above, &disk) != 0)
        return err_set(err, STATUS_IO, "%.250s: %s", bench->above, strerror(errno));
    uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (bytes >= BENCH_FIGURES_DISK_BYTES)
        return STATUS_OK;
    buf_init_fixed(&room, memory, sizeof memory);
    size_put(&room, bytes >> 20 << 20);
    return err_set(err, STATUS_FULL,
                   "%.250s has %s free, and the figures need 1GiB: --dir DIR takes them elsewhere",
                   bench->above, buf_cstr(&room));
}

/* ---- the figures ---- */

static void put_rate(struct json_out *json, const char *key, double value) {
    json_key(json, key);
    json_put_i64(json, (int64_t)(value + 0.5));
}

static void put_figures(const struct bench *bench, struct json_out *json) {
    json_key(json, "commits");
    json_open(json, '[');
    for (size_t i = 0; i < BENCH_FIGURES_COUNT; i++) {
        const struct bench_figure *figure = &bench->figures[i];
        json_open(json, '{');
        json_key(json, "letters");
        json_put_i64(json, (int64_t)figure->group);
        put_rate(json, "disk_per_second", figure->disk);
        put_rate(json, "store_per_second", figure->store);
        json_key(json, "ratio");
        json_put_double(json, (double)(int64_t)(figure->store / figure->disk * 100 + 0.5) / 100);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_answer(const struct bench *bench, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_member_text(&json, "dir", bytes_of(bench->above));
    json_key(&json, "seconds");
    json_put_i64(&json, (int64_t)bench->seconds);
    json_key(&json, "letter_bytes");
    json_put_i64(&json, (int64_t)bench_figures_letter_bytes());
    put_figures(bench, &json);
    put_rate(&json, "messages_per_second", bench->queue_per_second);
    json_close(&json, '}');
}

static void show(const struct cli_env *env, struct json answer, struct arena *arena,
                 struct buf *out) {
    static const struct listing_column columns[] = {
        {{"LETTERS A COMMIT", true}, "letters", NULL},
        {{"DISK ALONE/S", true}, "disk_per_second", NULL},
        {{"IMPOUND/S", true}, "store_per_second", NULL},
        {{"RATIO", true}, "ratio", NULL},
    };
    struct story story = {env, answer, arena, out};
    struct json commits, rate;
    json_get(answer, "commits", &commits);
    json_get(answer, "messages_per_second", &rate);
    listing_print(&story, columns, COMMAND_COUNT(columns), commits, 0);
    buf_printf(out,
               "Letters of %zu bytes, durable with each commit; the disk alone appends and syncs "
               "as many bytes.\n"
               "Built-in queue: %.*s messages/s pushed in groups of %d, handed to a function that "
               "does nothing, and gone.\n",
               bench_figures_letter_bytes(), BYTES_ARG(rate.text), BENCH_QUEUE_GROUP);
}

static int print(const struct cli_env *env, const struct bench *bench) {
    struct buf answer, out;
    struct arena arena;
    struct json json;
    buf_init_heap(&answer, TEXT_MAX);
    buf_init_heap(&out, TEXT_MAX);
    arena_init_heap(&arena, CHUNK);
    put_answer(bench, &answer);
    json_parse(buf_view(&answer), &json, NULL);
    if (env->json)
        buf_printf(&out, "%s\n", buf_cstr(&answer));
    else
        show(env, json, &arena, &out);
    int code = command_write(buf_view(&out));
    arena_free(&arena);
    buf_free(&out);
    buf_free(&answer);
    return code;
}

/* ---- the verb ---- */

static enum status measure(struct bench *bench, struct err *err) {
    struct bench_span span = {.count = BENCH_FIGURES_LETTERS_MAX,
                              .seconds = (double)bench->seconds,
                              .stop = &interrupted};
    enum status status =
        tempdir_make(bench->above, "impound-bench", bench->dir, sizeof bench->dir, err);
    if (status == STATUS_OK)
        status = bench_figures_take(bench->dir, &span, bench->figures, err);
    if (status == STATUS_OK)
        status = bench_queue_run(bench->dir, &span, &bench->queue_per_second, err);
    tempdir_remove(bench->dir);
    if (status == STATUS_OK && interrupted)
        status = err_set(err, STATUS_INVALID, "it was interrupted; nothing is left of it");
    return status;
}

/* A bench that is stopped by a signal must also remove its files. */
static void heed_signals(void) {
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    signal(SIGHUP, interrupt);
}

static bool read_seconds(const struct options *options, struct bench *bench) {
    const char *said = options_get(options, "seconds");
    bench->seconds = SECONDS;
    return !said || (bytes_u64(bytes_of(said), &bench->seconds) && bench->seconds >= 1 &&
                     bench->seconds <= SECONDS_MAX);
}

static int run(const struct cli_env *env, const struct options *options) {
    struct bench bench = {0};
    struct err err = {STATUS_OK, ""};
    const char *dir = options_get(options, "dir");
    if (!read_seconds(options, &bench))
        return command_usage(env, "bench", "--seconds is a whole number from 1 to %d", SECONDS_MAX);
    enum status status = STATUS_OK;
    if (dir)
        snprintf(bench.above, sizeof bench.above, "%s", dir);
    else
        status = find_store(local_verbs_config(options), &bench, &err);
    if (status == STATUS_OK)
        status = look_for_room(&bench, &err);
    if (status != STATUS_OK)
        return command_fail(&err);
    if (!env->json && isatty(STDERR_FILENO))
        fprintf(stderr, "Measuring in %s …\n", bench.above);
    heed_signals();
    log_set_level(LOG_ERROR);
    local_verbs_allow_open_files();
    status = measure(&bench, &err);
    return status == STATUS_OK ? print(env, &bench) : command_fail(&err);
}

int bench_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, bench_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    int code = run(env, &options);
    options_free(&options);
    return code;
}
