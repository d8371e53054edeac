#include "app/wiring/maintenance.h"

#include <stdlib.h>

#include "config/triage/config_triage.h"
#include "config/triage/config_triage_rules.h"
#include "base/memory.h"
#include "base/thread/thread.h"

struct maintenance {
    struct maintenance_options options;
    struct retention *retention;
    struct triage_rules *rules;
    pthread_t thread;
    bool runs;
};

static size_t retention_rules(void *arg, struct arena *arena, struct retention_rule **out) {
    struct config_current *current = ((struct maintenance *)arg)->options.current;
    size_t count = config_triage_retention(config_current_borrow(current), arena, out);
    config_current_release(current);
    return count;
}

static size_t triage_dlqs(void *arg, struct arena *arena, struct triage_dlq **out) {
    struct config_current *current = ((struct maintenance *)arg)->options.current;
    size_t count = config_triage_rules_dlqs(config_current_borrow(current), arena, out);
    config_current_release(current);
    return count;
}

static bool compensates(void *arg, struct bytes queue) {
    struct live_config view = config_current_view(((struct maintenance *)arg)->options.current);
    return view.compensates(view.arg, queue);
}

static void news(void *arg) {
    const struct maintenance_options *options = &((struct maintenance *)arg)->options;
    options->news(options->arg);
}

static void *run(void *arg) {
    triage_rules_run(arg);
    return NULL;
}

static enum status start_rules(struct maintenance *maintenance, struct err *err) {
    struct triage_rules_options options = {.triage = maintenance->options.triage,
                                           .replays = maintenance->options.replays,
                                           .base_dir = maintenance->options.base_dir,
                                           .dlqs = triage_dlqs,
                                           .compensates = compensates,
                                           .news = news,
                                           .arg = maintenance};
    maintenance->rules = triage_rules_new(&options);
    enum status status = triage_rules_recover(maintenance->rules, err);
    if (status != STATUS_OK)
        return status;
    thread_start(&maintenance->thread, "triage", run, maintenance->rules);
    maintenance->runs = true;
    return STATUS_OK;
}

static void start_retention(struct maintenance *maintenance) {
    struct retention_options options = {.triage = maintenance->options.triage,
                                        .base_dir = maintenance->options.base_dir,
                                        .rules = retention_rules,
                                        .arg = maintenance};
    maintenance->retention = retention_start(&options);
}

enum status maintenance_start(const struct maintenance_options *options, struct maintenance **out,
                              struct err *err) {
    struct maintenance *maintenance = memory_new(sizeof *maintenance);
    maintenance->options = *options;
    *out = maintenance;
    enum status status = start_rules(maintenance, err);
    if (status == STATUS_OK)
        start_retention(maintenance);
    return status;
}

struct triage_rules *maintenance_rules(struct maintenance *maintenance) {
    return maintenance->rules;
}

void maintenance_reload(struct maintenance *maintenance) {
    retention_wake(maintenance->retention);
    triage_rules_reload(maintenance->rules);
}

void maintenance_stop(struct maintenance *maintenance) {
    if (!maintenance)
        return;
    retention_stop(maintenance->retention);
    maintenance->retention = NULL;
    if (!maintenance->runs)
        return;
    triage_rules_stop(maintenance->rules);
    pthread_join(maintenance->thread, NULL);
    maintenance->runs = false;
}

void maintenance_free(struct maintenance *maintenance) {
    if (!maintenance)
        return;
    maintenance_stop(maintenance);
    triage_rules_free(maintenance->rules);
    free(maintenance);
}
