/* impound check: checks the configuration and prints its effective values. */
#include <stdio.h>
#include <stdlib.h>

#include "app/what_if/behaviour.h"
#include "app/program_check.h"
#include "config/table/config_json.h"
#include "broker/sinks.h"
#include "broker/sources.h"
#include "app/local_verbs.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread/thread.h"
#include "broker/common/url.h"
#include "cli/command.h"

enum { TEXT_MAX = 64 << 20, SHOWN_MAX = 8192, CONNECT_WAIT_MS = 10 * 1000, AT_ONCE = 64 };

const struct options_row check_options[] = {
    LOCAL_VERBS_CONFIG,
    {"connect", NULL, "try out every source and every place that is published to instead", 0},
    {0},
};

enum manner { TO_CONSUME, TO_LOOK, TO_PUBLISH };

/* One connection to try, its user in the configuration, and the result. */
struct connection_trial {
    enum manner manner;
    struct bytes url, name;
    const char *of; /* "queue", "adopt", … */
    size_t line;    /* 0: not known */
    uint64_t max_body;
    pthread_t thread;
    enum status status;
    struct err err;
};

/* ---- connections of the configuration ---- */

struct connection_trials {
    struct connection_trial *list;
    size_t count;
};

/* A sink that is used several times is tried once. */
static void add(struct connection_trials *trials, const struct connection_trial *trial) {
    for (size_t i = 0; i < trials->count; i++)
        if (trial->manner == TO_PUBLISH && trials->list[i].manner == TO_PUBLISH &&
            bytes_eq(trials->list[i].url, trial->url))
            return;
    trials->list = memory_grow(trials->list, (trials->count + 1) * sizeof *trials->list);
    trials->list[trials->count++] = *trial;
}

static void add_sink(struct connection_trials *trials, struct connection_trial trial) {
    trial.manner = TO_PUBLISH;
    if (trial.url.len)
        add(trials, &trial);
}

static void add_queue(struct connection_trials *trials, const struct config *config,
                      const struct config_queue *queue) {
    struct connection_trial source = {.manner = TO_CONSUME,
                                      .url = queue->source,
                                      .name = queue->name,
                                      .of = "queue",
                                      .line = queue->line,
                                      .max_body = config->max_body};
    if (!bytes_is(queue->source, SOURCES_BUILTIN))
        add(trials, &source);
    for (size_t i = 0; i < queue->handler_count; i++)
        add_sink(trials, (struct connection_trial){.url = queue->handlers[i].reply.url,
                                                   .name = queue->name,
                                                   .of = "reply of queue",
                                                   .line = queue->line});
    for (size_t i = 0; i < queue->dlq_count; i++)
        add_sink(trials, (struct connection_trial){.url = queue->dlqs[i].mirror,
                                                   .name = queue->dlqs[i].name,
                                                   .of = "mirror of DLQ"});
}

static void add_adopt(struct connection_trials *trials, const struct config *config,
                      const struct config_adopt *adopt) {
    struct connection_trial source = {.manner =
                                          adopt->entry.mode == ADOPT_PEEK ? TO_LOOK : TO_CONSUME,
                                      .url = adopt->entry.source,
                                      .name = adopt->entry.name,
                                      .of = "adopt",
                                      .line = adopt->line,
                                      .max_body = config->max_body};
    add(trials, &source);
}

/* ---- trying them ---- */

static void *try_out(void *arg) {
    struct connection_trial *trial = arg;
    struct broker_options options = {.url = trial->url,
                                     .queue = trial->name,
                                     .instance = BYTES("impound-check"),
                                     .clock = &clock_system,
                                     .seed = random_seed(),
                                     .max_body = trial->max_body,
                                     .quiet = true};
    if (trial->manner == TO_PUBLISH)
        trial->status = sinks_connect(trial->url, &clock_system, &trial->err);
    else if (trial->manner == TO_LOOK)
        trial->status = sources_look(&options, CONNECT_WAIT_MS, &trial->err);
    else
        trial->status = sources_connect(&options, CONNECT_WAIT_MS, &trial->err);
    return NULL;
}

/* Prints a line about it. */
static void tell(const struct config *config, const struct connection_trial *trial,
                 struct buf *text) {
    bool ok = trial->status == STATUS_OK;
    char memory[SHOWN_MAX];
    struct buf shown;
    buf_init_fixed(&shown, memory, sizeof memory);
    url_show(trial->url, &shown);
    buf_bytes(text, config->path);
    if (trial->line > 0)
        buf_printf(text, ":%zu", trial->line);
    buf_printf(text, ": %s \"%.*s\": %s: %s%s%s\n", trial->of, BYTES_ARG(trial->name),
               buf_cstr(&shown), ok ? "connected" : "", ok && trial->err.text[0] ? ", but " : "",
               trial->err.text);
}

/* Tried in parallel, because a server that does not answer takes the whole timeout. */
static void try_all(const struct connection_trials *trials) {
    for (size_t first = 0; first < trials->count; first += AT_ONCE) {
        size_t left = trials->count - first, count = left < AT_ONCE ? left : AT_ONCE;
        struct connection_trial *some = trials->list + first;
        for (size_t i = 0; i < count; i++)
            thread_start(&some[i].thread, "check", try_out, &some[i]);
        for (size_t i = 0; i < count; i++)
            pthread_join(some[i].thread, NULL);
    }
}

static enum status connect_all(const struct config *config, struct buf *text) {
    enum status status = STATUS_OK;
    struct connection_trials trials = {NULL, 0};
    for (size_t i = 0; i < config->queue_count; i++)
        add_queue(&trials, config, &config->queues[i]);
    for (size_t i = 0; i < config->adopt_count; i++)
        add_adopt(&trials, config, &config->adopts[i]);
    try_all(&trials);
    for (size_t i = 0; i < trials.count; i++) {
        tell(config, &trials.list[i], text);
        if (trials.list[i].status != STATUS_OK)
            status = STATUS_UNREACHABLE;
    }
    if (trials.count == 0)
        buf_printf(text, "%.*s: it has no broker to try out\n", BYTES_ARG(config->path));
    free(trials.list);
    return status;
}

/* Printed as comments, so that the output stays a valid configuration. */
static void put_changes(const struct config *config, struct buf *out) {
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    behaviour_put(config, 0, &text);
    if (text.len > 0)
        buf_str(out, "# For those who used an earlier version:\n");
    for (struct bytes rest = buf_view(&text); rest.len;) {
        size_t end = bytes_find(rest, BYTES("\n"));
        buf_printf(out, "# %.*s\n", BYTES_ARG(bytes_cut(rest, 0, end)));
        rest = bytes_cut(rest, end + 1, rest.len);
    }
    buf_free(&text);
}

static enum status check(const char *path, bool connect, bool json, struct buf *text) {
    struct config *config = NULL;
    enum status status = local_verbs_load(path, &config, text);
    if (status == STATUS_OK)
        status = program_check(config, text);
    if (status == STATUS_OK && connect)
        status = connect_all(config, text);
    else if (status == STATUS_OK)
        (json ? config_json_print : config_print)(config, text);
    if (status == STATUS_OK && !connect && !json)
        put_changes(config, text);
    config_free(config);
    return status;
}

int check_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, check_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    enum status status =
        check(local_verbs_config(&options), options_has(&options, "connect"), env->json, &text);
    fputs(buf_cstr(&text), status == STATUS_OK ? stdout : stderr);
    buf_free(&text);
    options_free(&options);
    return status == STATUS_OK ? 0 : status_exit(STATUS_INVALID);
}
