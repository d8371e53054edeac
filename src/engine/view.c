/* Copies of the engine's state for other threads. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/features/flood_guard.h"
#include "engine/publish.h"
#include "engine/features/dlq/room.h"

enum { LAST_MINUTE_MS = 60 * 1000 };

const double engine_seconds_bounds[ENGINE_SECONDS_BUCKETS] = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

static struct engine_rates rates_of(struct queue *queue, struct mono now, int64_t window_ms) {
    return (struct engine_rates){.in = rate_per_minute(&queue->in, now, window_ms),
                                 .ok = rate_per_minute(&queue->ok, now, window_ms),
                                 .failed = rate_per_minute(&queue->failed, now, window_ms)};
}

static void copy_counters(const struct queue *queue, struct engine_queue_view *out) {
    for (size_t i = 0; i < RESULT_COUNT; i++)
        out->results[i] = queue->results[i];
    for (size_t i = 0; i <= ENGINE_SECONDS_BUCKETS; i++)
        out->seconds_buckets[i] = queue->seconds_buckets[i];
    out->seconds_sum = queue->seconds_sum;
    out->retries = queue->retries;
    out->fallbacks = queue->fallbacks;
    out->jq_errors = queue->jq_errors;
    out->leases_expired = queue->expired;
    out->same_ids = queue->same_ids;
    out->workers_waiting = queue->waiting;
}

static void copy_breaker(const struct queue *queue, struct instant now,
                         struct engine_queue_view *out) {
    const struct breaker *breaker = &queue->breaker;
    out->breaker = breaker->state;
    if (breaker->state == BREAKER_CLOSED)
        return;
    out->breaker_open_ms = now.mono.ms - breaker->opened_at.ms;
    memcpy(out->breaker_why, queue->breaker_why, sizeof out->breaker_why);
    if (breaker->state == BREAKER_OPEN)
        out->breaker_until.ms = now.wall.ms + (breaker->until.ms - now.mono.ms);
}

static void copy_source(const struct queue *queue, struct engine_queue_view *out) {
    struct broker *broker = queue->broker;
    struct broker_health health = {.connected = true};
    if (broker->vtable->health)
        broker->vtable->health(broker, &health);
    out->source_connected = health.connected;
    if (!health.connected)
        snprintf(out->source_trouble, sizeof out->source_trouble, "%s", health.trouble.text);
    snprintf(out->source, sizeof out->source, "%s", broker->vtable->kind);
    out->lag = broker->vtable->lag(broker);
}

/* Versions from the configuration count as in use also while nothing is handed over. */
static void copy_versions(struct queue *queue, struct mono now, struct engine_queue_view *out) {
    const char *in_use[VERSIONS_MAX];
    if (!queue_leases(queue))
        versions_note(&queue->versions, queue->handlers[0].version, now);
    out->version_count = versions_in_use(&queue->versions, now, in_use);
    for (size_t i = 0; i < out->version_count; i++)
        snprintf(out->versions[i], VERSION_TEXT_MAX, "%s", in_use[i]);
}

/* A letter that closes a key and cannot be read is reported like trouble with messages. */
static void copy_order_trouble(const struct queue *queue, struct store_queue_counts *out) {
    if (!queue->order_trouble[0])
        return;
    out->unreadable++;
    snprintf(out->unreadable_why, sizeof out->unreadable_why, "%s", queue->order_trouble);
}

static void copy_queue(struct queue *queue, struct engine_queue_view *out) {
    struct engine *engine = queue->engine;
    struct instant now = clock_now(engine->options.clock);
    *out = (struct engine_queue_view){.state = queue->state,
                                      .concurrency = queue->rules.concurrency,
                                      .in_flight = queue->running};
    snprintf(out->name, sizeof out->name, "%.*s", BYTES_ARG(queue->name));
    out->checking = queue->state == QUEUE_RUNNING && queue->opinion.stage == OPINION_ASKING;
    out->stuck = queue->postponed > 0;
    const char *why = out->checking ? queue->refused_why : queue->why;
    snprintf(out->why, sizeof out->why, "%s", out->stuck && !why[0] ? queue->postponed_why : why);
    snprintf(out->handler, sizeof out->handler, "%s",
             queue_leases(queue) ? "lease" : queue->handlers[0].handler->vtable->kind);
    engine->store->vtable->counts(engine->store, queue->number, &out->counts);
    copy_order_trouble(queue, &out->counts);
    out->dlq_full = room_describe(queue, out->full_dlqs, sizeof out->full_dlqs) > 0;
    out->receives_nothing = room_stops_receiving(queue);
    out->ordered = queue->rules.order == ORDER_KEY;
    copy_source(queue, out);
    publish_describe(queue, out->sink_trouble, sizeof out->sink_trouble);
    copy_breaker(queue, now, out);
    flood_guard_view(queue, now.mono, &out->flood);
    copy_counters(queue, out);
    copy_versions(queue, now.mono, out);
    out->budget_remaining_ratio =
        budget_remaining_ratio(&queue->budget, &queue->rules.policy->retry, now.mono);
    out->rates = rates_of(queue, now.mono, LAST_MINUTE_MS);
}

bool engine_view(struct engine *engine, struct bytes name, struct engine_queue_view *out) {
    pthread_mutex_lock(&engine->mutex);
    struct queue *queue = engine_queue(engine, name);
    if (queue)
        copy_queue(queue, out);
    pthread_mutex_unlock(&engine->mutex);
    return queue != NULL;
}

bool engine_dlq_is_full(struct engine *engine, struct bytes dlq) {
    pthread_mutex_lock(&engine->mutex);
    bool full = room_was_full(engine, dlq);
    pthread_mutex_unlock(&engine->mutex);
    return full;
}

size_t engine_queue_count(struct engine *engine) {
    return engine->queue_count;
}

bool engine_view_at(struct engine *engine, size_t place, struct engine_queue_view *out) {
    if (place >= engine->queue_count)
        return false;
    pthread_mutex_lock(&engine->mutex);
    copy_queue(engine->queues[place], out);
    pthread_mutex_unlock(&engine->mutex);
    return true;
}

struct engine_rates engine_rates_at(struct engine *engine, size_t place, int64_t window_ms) {
    pthread_mutex_lock(&engine->mutex);
    struct engine_rates rates =
        rates_of(engine->queues[place], clock_now(engine->options.clock).mono, window_ms);
    pthread_mutex_unlock(&engine->mutex);
    return rates;
}
