/* impound serve: the server. SIGHUP reloads the configuration, SIGINT and SIGTERM stop gracefully,
 * a second one stops at once. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/wiring/runtime.h"
#include "app/local_verbs.h"
#include "app/program_check.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "server/dashboard/asset.h"

enum { MISTAKES_MAX = 64 << 10 };

/* A callback handler needs a program that links the library; the server has none. */
static enum status refuse_callbacks(const struct config *config, struct buf *mistakes) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < config->queue_count; i++) {
        const struct config_queue *queue = &config->queues[i];
        for (size_t h = 0; h < queue->handler_count; h++) {
            if (queue->handlers[h].kind != HANDLER_CALLBACK)
                continue;
            buf_printf(mistakes,
                       "%.*s:%zu: queue \"%.*s\" has handler: callback, which only a program with "
                       "libimpound can run. Give it an http or exec handler to serve it\n",
                       BYTES_ARG(config->path), queue->line, BYTES_ARG(queue->name));
            status = STATUS_INVALID;
        }
    }
    return status;
}

static void log_lines(enum log_level level, struct buf *text) {
    struct bytes rest = buf_view(text), line;
    while (bytes_line(&rest, &line))
        log_line(level, "%.*s", BYTES_ARG(line));
}

/* At the start the log's format is not known yet, so mistakes are printed to standard error. */
static void tell(bool starting, struct buf *mistakes) {
    if (starting)
        fprintf(stderr, "%s", buf_cstr(mistakes));
    else
        log_lines(LOG_ERROR, mistakes);
}

static struct config *load(const char *path, bool starting) {
    struct config *config = NULL;
    struct buf mistakes;
    buf_init_heap(&mistakes, MISTAKES_MAX);
    if ((starting ? local_verbs_load : config_load)(path, &config, &mistakes) != STATUS_OK ||
        refuse_callbacks(config, &mistakes) != STATUS_OK ||
        program_check(config, &mistakes) != STATUS_OK) {
        tell(starting, &mistakes);
        config_free(config);
        config = NULL;
    }
    buf_free(&mistakes);
    return config;
}

static void set_log(const struct config *config) {
    log_set_format(config->log);
    log_set_level(config->log_level);
}

/* Keys that need a restart are found by a comparison with the configuration of the start, which is
 * the running one. The runtime takes ownership of the new configuration in any case, so they are
 * logged before. */
static void reload(struct runtime *runtime, const char *path, const struct config *started) {
    struct err err;
    struct config *config = load(path, false);
    if (!config) {
        log_error("%s has mistakes; the running configuration stays as it is", path);
        return;
    }
    struct buf differences;
    buf_init_heap(&differences, MISTAKES_MAX);
    config_restart_needed(started, config, &differences);
    if (runtime_reload(runtime, config, &err) == STATUS_OK) {
        set_log(config);
        log_lines(LOG_WARN, &differences);
        log_info("%s is in force", path);
    } else {
        log_error("%s is not applied: %s", path, err.text);
    }
    buf_free(&differences);
}

static void watched_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

/* A SIGHUP during the start causes a reload once the server runs. */
void serve_hold_hangup(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void wait_for_stop(struct runtime *runtime, const char *path, const struct config *started) {
    sigset_t set;
    int got;
    watched_signals(&set);
    for (;;) {
        if (sigwait(&set, &got) != 0)
            continue;
        if (got != SIGHUP)
            break;
        reload(runtime, path, started);
    }
    log_info("%s: stopping; what is under way has its drain time (again to stop at once)",
             strsignal(got));
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigdelset(&set, SIGHUP); /* no reload any more */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

const struct options_row serve_options[] = {
    LOCAL_VERBS_CONFIG,
    {0},
};

int serve_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, serve_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    const char *path = local_verbs_config(&options); /* points into argv */
    options_free(&options);
    struct config *config = load(path, true);
    if (!config)
        return status_exit(STATUS_INVALID);
    set_log(config);
    /* Blocked before any thread starts, so that only wait_for_stop gets them. */
    sigset_t set;
    watched_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    local_verbs_allow_open_files();
    struct runtime *runtime;
    struct err err = {STATUS_OK, ""};
    char host[256];
    snprintf(host, sizeof host, "%.*s", BYTES_ARG(config->listen_host));
    bool json = config->log == LOG_JSON;
    memory_reserve();
    enum status status = runtime_start(config, &runtime, &err);
    if (status != STATUS_OK) {
        if (json)
            log_error("%s", err.text);
        else
            fprintf(stderr, "impound: %s\n", err.text);
        return status_exit(status);
    }
    log_info("impound " IMPOUND_VERSION " listens on http://%s:%u", host, runtime_port(runtime));
    if (!asset_has_dashboard())
        log_info("this build has no dashboard (npm failed, was missing or turned off): a plain "
                 "page is served instead");
    wait_for_stop(runtime, path, config);
    runtime_stop(runtime);
    log_info("stopped");
    return 0;
}
