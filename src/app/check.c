/* impound check: is the configuration right, and what does it amount to? */
#include <stdio.h>
#include <string.h>

#include "app/config.h"
#include "app/sources.h"
#include "app/verbs.h"
#include "base/random.h"
#include "broker/url.h"

enum { TEXT_MAX = 64 << 20, SHOWN_MAX = 8192, CONNECT_WAIT_MS = 10 * 1000 };

bool verbs_config_option(int argc, char **argv, int *i, const char **path) {
    if ((strcmp(argv[*i], "-c") == 0 || strcmp(argv[*i], "--config") == 0) && *i + 1 < argc) {
        *path = argv[++*i];
        return true;
    }
    if (strncmp(argv[*i], "--config=", strlen("--config=")) == 0) {
        *path = argv[*i] + strlen("--config=");
        return true;
    }
    return false;
}

/* A source that is tried out, and who has it. */
struct trial {
    struct bytes source, name;
    const char *of; /* "queue", "adopt" */
    size_t line;
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
                                     .max_body = config->max_body};
    enum status status = sources_connect(&options, CONNECT_WAIT_MS, &err);
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
        struct trial trial = {queue->source, queue->name, "queue", queue->line};
        if (!bytes_is(queue->source, SOURCES_BUILTIN) &&
            try_source(config, &trial, text) != STATUS_OK)
            status = STATUS_UNREACHABLE;
    }
    for (size_t i = 0; i < config->adopt_count; i++) {
        const struct config_adopt *adopt = &config->adopts[i];
        struct trial trial = {adopt->entry.source, adopt->entry.name, "adopt", adopt->line};
        if (try_source(config, &trial, text) != STATUS_OK)
            status = STATUS_UNREACHABLE;
    }
    return status;
}

static enum status check(const char *path, bool connect, struct buf *text) {
    struct config *config = NULL;
    enum status status = config_load(path, &config, text);
    if (status == STATUS_OK)
        status = config_check_programs(config, text);
    if (status == STATUS_OK && connect)
        status = try_sources(config, text);
    if (status == STATUS_OK && !connect)
        config_print(config, text);
    config_free(config);
    return status;
}

int check_run(const struct cli_env *env, int argc, char **argv) {
    const char *path = "impound.yaml";
    bool connect = false;
    (void)env;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--connect") == 0) {
            connect = true;
        } else if (!verbs_config_option(argc, argv, &i, &path)) {
            fprintf(stderr, "usage: impound check [-c FILE] [--connect]\nFILE defaults to "
                            "impound.yaml.\n");
            return status_exit(STATUS_USAGE);
        }
    }
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    enum status status = check(path, connect, &text);
    fputs(buf_cstr(&text), status == STATUS_OK ? stdout : stderr);
    buf_free(&text);
    return status == STATUS_OK ? 0 : status_exit(STATUS_INVALID);
}
