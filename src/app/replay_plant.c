#include "app/replay_plant.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config_find.h"
#include "app/origins.h"
#include "base/memory.h"
#include "base/thread.h"

static_assert((int)REPLAY_VERSIONS_MAX == (int)VERSIONS_MAX, "as many as the engine knows");

enum { USUAL_WINDOW_MS = 60 * 60 * 1000, SECONDS_PER_MINUTE = 60 };

/* The freshness check of a DLQ. */
struct check {
    struct check *next;
    struct bytes dlq;
    struct handler *handler;
};

struct replay_plant {
    struct replay_plant_options options;
    struct replays *replays;
    struct check *checks;
    pthread_t thread;
    bool runs;
};

/* ---- what replays ask ---- */

/* A breaker that is half open wants probes, and letters may be all there is to probe with. */
static void say_blocked(const struct engine_queue_view *view, struct replay_queue *out) {
    if (view->state != QUEUE_RUNNING)
        snprintf(out->blocked, sizeof out->blocked, "queue %.60s is %s", view->name,
                 queue_state_text(view->state));
    else if (view->checking)
        snprintf(out->blocked, sizeof out->blocked, "queue %.60s checks why a message was refused",
                 view->name);
    else if (view->breaker == BREAKER_OPEN)
        snprintf(out->blocked, sizeof out->blocked, "the breaker of queue %.60s is open",
                 view->name);
}

/* What goes to its origin is published to the server that its source is read from. */
static void say_cut_off(const struct engine_queue_view *view, struct replay_queue *out) {
    if (!view->source_connected)
        snprintf(out->cut_off, sizeof out->cut_off, "the source of queue %.24s is away%s%.64s",
                 view->name, view->source_trouble[0] ? ": " : "", view->source_trouble);
}

static bool queue_is(void *arg, struct bytes name, struct replay_queue *out) {
    struct replay_plant *plant = arg;
    const struct replay_plant_options *options = &plant->options;
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
    say_blocked(&view, out);
    say_cut_off(&view, out);
    return true;
}

static void dlq_says(void *arg, struct bytes name, struct replay_dlq *out) {
    struct replay_plant *plant = arg;
    const struct replay_plant_options *options = &plant->options;
    const struct config_triage *triage =
        config_find_triage(config_current_borrow(options->current), name);
    *out = (struct replay_dlq){.max_replays = triage ? triage->max_replays : CONFIG_MAX_REPLAYS,
                               .fresh_ms = triage ? triage->fresh.within_ms : 0,
                               .hash = triage ? triage->fresh.hash : BYTES_NONE};
    config_current_release(options->current);
    for (const struct check *check = plant->checks; check; check = check->next)
        if (bytes_eq(check->dlq, name))
            out->check = check->handler;
}

static enum status origin_of(void *arg, const struct envelope *letter, char out[REPLAY_ORIGIN_SIZE],
                             struct err *err) {
    const struct replay_plant_options *options = &((struct replay_plant *)arg)->options;
    struct bytes url;
    return origins_find(options->current->started, letter, &url, out, err);
}

static void serve(void *arg, struct bytes queue) {
    engine_serve(((struct replay_plant *)arg)->options.engine, queue);
}

static void tell(void *arg, const char *type, struct bytes json) {
    const struct replay_plant_options *options = &((struct replay_plant *)arg)->options;
    options->publish(options->arg, &(struct engine_event){type, json, NULL});
}

/* ---- life ---- */

static void make_check(struct replay_plant *plant, struct bytes dlq,
                       const struct config_handler *config) {
    struct check *check = memory_new(sizeof *check);
    *check =
        (struct check){plant->checks, dlq, plant->options.make_handler(plant->options.arg, config)};
    plant->checks = check;
}

static void make_checks(struct replay_plant *plant) {
    const struct config *config = plant->options.current->started;
    for (size_t i = 0; i < config->dlq_count; i++)
        if (config->dlqs[i].triage->fresh.check)
            make_check(plant, config->dlqs[i].dlq->name, config->dlqs[i].triage->fresh.check);
}

enum status replay_plant_new(const struct replay_plant_options *options, struct replay_plant **out,
                             struct err *err) {
    struct replay_plant *plant = memory_new(sizeof *plant);
    plant->options = *options;
    make_checks(plant);
    struct replay_around around = {.queue = queue_is,
                                   .dlq = dlq_says,
                                   .origin = origin_of,
                                   .serve = serve,
                                   .event = tell,
                                   .arg = plant};
    plant->replays = replays_new(options->triage, &around);
    *out = plant;
    return replays_recover(plant->replays, err);
}

static void *run(void *arg) {
    replays_run(arg);
    return NULL;
}

void replay_plant_run(struct replay_plant *plant) {
    thread_start(&plant->thread, "replays", run, plant->replays);
    plant->runs = true;
}

struct replays *replay_plant_replays(struct replay_plant *plant) {
    return plant->replays;
}

void replay_plant_stop(struct replay_plant *plant) {
    if (!plant || !plant->runs)
        return;
    replays_stop(plant->replays);
    pthread_join(plant->thread, NULL);
    plant->runs = false;
}

void replay_plant_free(struct replay_plant *plant) {
    if (!plant)
        return;
    replays_free(plant->replays);
    while (plant->checks) {
        struct check *check = plant->checks;
        plant->checks = check->next;
        check->handler->vtable->free(check->handler);
        free(check);
    }
    free(plant);
}
