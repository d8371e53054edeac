/* impound check: is the configuration right, and what does it amount to? */
#include <stdio.h>

#include "app/config_json.h"
#include "app/sources.h"
#include "app/verbs.h"
#include "base/random.h"
#include "broker/url.h"
#include "cli/command.h"

enum { TEXT_MAX = 64 << 20, SHOWN_MAX = 8192, CONNECT_WAIT_MS = 10 * 1000 };

const struct options_row check_options[] = {
    VERBS_CONFIG,
    {"connect", NULL, "try every source out instead, and say what is wrong with it", 0},
    {0},
};

/* A source that is tried out, and who has it. */
struct trial {
    struct bytes source, name;
    const char *of; /* "queue", "adopt" */
    size_t line;
    bool peek; /* it is only looked at */
};

/* A line about it. */
static enum status try_source(const struct config *config, const struct trial *trial,
                              struct buf *text) {
    struct err err = {STATUS_OK, ""};
    char memory[SHOWN_MAX];
    struct buf shown;
    struct broker_options options = {.url = trial->source,
                                     .queue = trial->name,
                                     .instance = BYTES("impound-check"),
                                     .clock = &clock_system,
                                     .seed = random_seed(),
                                     .max_body = config->max_body,
                                     .quiet = true};
    enum status status =
        (trial->peek ? sources_look : sources_connect)(&options, CONNECT_WAIT_MS, &err);
    buf_init_fixed(&shown, memory, sizeof memory);
    url_show(trial->source, &shown);
    buf_printf(text, "%.*s:%zu: %s \"%.*s\": %s: %s\n", BYTES_ARG(config->path), trial->line,
               trial->of, BYTES_ARG(trial->name), buf_cstr(&shown),
               status == STATUS_OK ? "connected" : err.text);
    return status;
}

static enum status try_sources(const struct config *config, struct buf *text) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < config->queue_count; i++) {
        const struct config_queue *queue = &config->queues[i];
        struct trial trial = {queue->source, queue->name, "queue", queue->line, false};
        if (!bytes_is(queue->source, SOURCES_BUILTIN) &&
            try_source(config, &trial, text) != STATUS_OK)
            status = STATUS_UNREACHABLE;
    }
    for (size_t i = 0; i < config->adopt_count; i++) {
        const struct config_adopt *adopt = &config->adopts[i];
        struct trial trial = {adopt->entry.source, adopt->entry.name, "adopt", adopt->line,
                              adopt->entry.mode == ADOPT_PEEK};
        if (try_source(config, &trial, text) != STATUS_OK)
            status = STATUS_UNREACHABLE;
    }
    return status;
}

static enum status check(const char *path, bool connect, bool json, struct buf *text) {
    struct config *config = NULL;
    enum status status = verbs_load(path, &config, text);
    if (status == STATUS_OK)
        status = config_check_programs(config, text);
    if (status == STATUS_OK && connect)
        status = try_sources(config, text);
    else if (status == STATUS_OK)
        (json ? config_json_print : config_print)(config, text);
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
        check(verbs_config(&options), options_has(&options, "connect"), env->json, &text);
    fputs(buf_cstr(&text), status == STATUS_OK ? stdout : stderr);
    buf_free(&text);
    options_free(&options);
    return status == STATUS_OK ? 0 : status_exit(STATUS_INVALID);
}
