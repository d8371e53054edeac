#include "app/wiring/replay_wiring.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/wiring/origins.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "triage/replay/replay_blocked.h"

static_assert((int)REPLAY_VERSIONS_MAX == (int)VERSIONS_MAX, "as many as the engine knows");

enum { USUAL_WINDOW_MS = 60 * 60 * 1000, SECONDS_PER_MINUTE = 60 };

/* The freshness check of a DLQ. */
struct freshness_check {
    struct freshness_check *next;
    struct bytes dlq;
    struct handler *handler;
};

struct replay_wiring {
    struct replay_wiring_options options;
    struct replays *replays;
    struct freshness_check *checks;
    pthread_t thread;
    bool runs;
};

/* ---- callbacks of replays ---- */

static bool queue_is(void *arg, struct bytes name, struct replay_queue *out) {
    struct replay_wiring *wiring = arg;
    const struct replay_wiring_options *options = &wiring->options;
    const struct config_queue *started = config_find_queue(options->current->started, name);
    struct engine_queue_view view;
    *out = (struct replay_queue){.lag = 0};
    if (!started || !engine_view(options->engine, name, &view))
        return false;
    size_t place = (size_t)(started - options->current->started->queues);
    struct engine_rates rates = engine_rates_at(options->engine, place, USUAL_WINDOW_MS);
    const struct config *config = config_current_borrow(options->current);
    const struct config_queue *queue = config_find_queue(config, name);
    out->max_lag = queue ? queue->replay_max_lag : UINT64_MAX;
    config_current_release(options->current);
    out->lag = view.lag;
    out->concurrency = view.concurrency;
    out->usual_per_second = (double)rates.in / SECONDS_PER_MINUTE;
    out->version_count = view.version_count;
    for (size_t i = 0; i < view.version_count; i++)
        snprintf(out->versions[i], VERSION_TEXT_MAX, "%s", view.versions[i]);
    replay_blocked(&(struct replay_queue_state){.name = view.name,
                                                .stopped = view.state == QUEUE_RUNNING
                                                               ? NULL
                                                               : queue_state_text(view.state),
                                                .checking = view.checking,
                                                .breaker_open = view.breaker == BREAKER_OPEN,
                                                .source_connected = view.source_connected,
                                                .source_trouble = view.source_trouble},
                   out);
    return true;
}

static void dlq_says(void *arg, struct bytes name, struct replay_dlq *out) {
    struct replay_wiring *wiring = arg;
    const struct replay_wiring_options *options = &wiring->options;
    const struct config_triage *triage =
        config_find_triage(config_current_borrow(options->current), name);
    *out = (struct replay_dlq){.max_replays = triage ? triage->max_replays : CONFIG_MAX_REPLAYS,
                               .fresh_ms = triage ? triage->fresh.within_ms : 0,
                               .hash = triage ? triage->fresh.hash : BYTES_NONE};
    config_current_release(options->current);
    for (const struct freshness_check *check = wiring->checks; check; check = check->next)
        if (bytes_eq(check->dlq, name))
            out->check = check->handler;
}

static enum status origin_of(void *arg, const struct envelope *letter, char out[REPLAY_ORIGIN_SIZE],
                             struct err *err) {
    const struct replay_wiring_options *options = &((struct replay_wiring *)arg)->options;
    struct bytes url;
    return origins_find(options->current->started, letter, &url, out, err);
}

static void serve(void *arg, struct bytes queue) {
    engine_serve(((struct replay_wiring *)arg)->options.engine, queue);
}

static void tell(void *arg, const char *type, struct bytes json) {
    const struct replay_wiring_options *options = &((struct replay_wiring *)arg)->options;
    options->publish(options->arg, &(struct engine_event){type, json, NULL});
}

/* ---- start and stop ---- */

static void make_check(struct replay_wiring *wiring, struct bytes dlq,
                       const struct config_handler *config) {
    struct freshness_check *check = memory_new(sizeof *check);
    *check = (struct freshness_check){wiring->checks, dlq,
                                      wiring->options.make_handler(wiring->options.arg, config)};
    wiring->checks = check;
}

static void make_checks(struct replay_wiring *wiring) {
    const struct config *config = wiring->options.current->started;
    for (size_t i = 0; i < config->dlq_count; i++)
        if (config->dlqs[i].triage->fresh.check)
            make_check(wiring, config->dlqs[i].dlq->name, config->dlqs[i].triage->fresh.check);
}

enum status replay_wiring_new(const struct replay_wiring_options *options,
                              struct replay_wiring **out, struct err *err) {
    struct replay_wiring *wiring = memory_new(sizeof *wiring);
    wiring->options = *options;
    make_checks(wiring);
    struct replay_around around = {.queue = queue_is,
                                   .dlq = dlq_says,
                                   .origin = origin_of,
                                   .serve = serve,
                                   .event = tell,
                                   .arg = wiring};
    wiring->replays = replays_new(options->triage, &around);
    *out = wiring;
    return replays_recover(wiring->replays, err);
}

static void *run(void *arg) {
    replays_run(arg);
    return NULL;
}

void replay_wiring_run(struct replay_wiring *wiring) {
    thread_start(&wiring->thread, "replays", run, wiring->replays);
    wiring->runs = true;
}

struct replays *replay_wiring_replays(struct replay_wiring *wiring) {
    return wiring->replays;
}

void replay_wiring_stop(struct replay_wiring *wiring) {
    if (!wiring || !wiring->runs)
        return;
    replays_stop(wiring->replays);
    pthread_join(wiring->thread, NULL);
    wiring->runs = false;
}

void replay_wiring_free(struct replay_wiring *wiring) {
    if (!wiring)
        return;
    replays_free(wiring->replays);
    while (wiring->checks) {
        struct freshness_check *check = wiring->checks;
        wiring->checks = check->next;
        check->handler->vtable->free(check->handler);
        free(check);
    }
    free(wiring);
}
