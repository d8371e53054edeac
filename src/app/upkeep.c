#include "app/upkeep.h"

#include <stdlib.h>

#include "config/config_retention.h"
#include "config/config_triage_rules.h"
#include "base/memory.h"
#include "base/thread.h"

struct upkeep {
    struct upkeep_options options;
    struct retention *retention;
    struct triage_rules *rules;
    pthread_t thread;
    bool runs;
};

static size_t retention_rules(void *arg, struct arena *arena, struct retention_rule **out) {
    struct config_current *current = ((struct upkeep *)arg)->options.current;
    size_t count = config_retention_rules(config_current_borrow(current), arena, out);
    config_current_release(current);
    return count;
}

static size_t triage_dlqs(void *arg, struct arena *arena, struct triage_dlq **out) {
    struct config_current *current = ((struct upkeep *)arg)->options.current;
    size_t count = config_triage_rules_dlqs(config_current_borrow(current), arena, out);
    config_current_release(current);
    return count;
}

static bool compensates(void *arg, struct bytes queue) {
    struct live_config view = config_current_view(((struct upkeep *)arg)->options.current);
    return view.compensates(view.arg, queue);
}

static void news(void *arg) {
    const struct upkeep_options *options = &((struct upkeep *)arg)->options;
    options->news(options->arg);
}

static void *run(void *arg) {
    triage_rules_run(arg);
    return NULL;
}

static enum status start_rules(struct upkeep *upkeep, struct err *err) {
    struct triage_rules_options options = {.triage = upkeep->options.triage,
                                           .replays = upkeep->options.replays,
                                           .base_dir = upkeep->options.base_dir,
                                           .dlqs = triage_dlqs,
                                           .compensates = compensates,
                                           .news = news,
                                           .arg = upkeep};
    upkeep->rules = triage_rules_new(&options);
    enum status status = triage_rules_recover(upkeep->rules, err);
    if (status != STATUS_OK)
        return status;
    thread_start(&upkeep->thread, "triage", run, upkeep->rules);
    upkeep->runs = true;
    return STATUS_OK;
}

static void start_retention(struct upkeep *upkeep) {
    struct retention_options options = {.triage = upkeep->options.triage,
                                        .base_dir = upkeep->options.base_dir,
                                        .rules = retention_rules,
                                        .arg = upkeep};
    upkeep->retention = retention_start(&options);
}

enum status upkeep_start(const struct upkeep_options *options, struct upkeep **out,
                         struct err *err) {
    struct upkeep *upkeep = memory_new(sizeof *upkeep);
    upkeep->options = *options;
    *out = upkeep;
    enum status status = start_rules(upkeep, err);
    if (status == STATUS_OK)
        start_retention(upkeep);
    return status;
}

struct triage_rules *upkeep_rules(struct upkeep *upkeep) {
    return upkeep->rules;
}

void upkeep_reload(struct upkeep *upkeep) {
    retention_wake(upkeep->retention);
    triage_rules_reload(upkeep->rules);
}

void upkeep_stop(struct upkeep *upkeep) {
    if (!upkeep)
        return;
    retention_stop(upkeep->retention);
    upkeep->retention = NULL;
    if (!upkeep->runs)
        return;
    triage_rules_stop(upkeep->rules);
    pthread_join(upkeep->thread, NULL);
    upkeep->runs = false;
}

void upkeep_free(struct upkeep *upkeep) {
    if (!upkeep)
        return;
    upkeep_stop(upkeep);
    triage_rules_free(upkeep->rules);
    free(upkeep);
}
