/* The loop. One turn: read the mailbox (answers of handlers and of the store, requests), feed the
 * queues that have an event, and commit the decisions. Attempts are settled in a later turn, when
 * the store's answer arrives in the mailbox. */
#include "engine/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/attempt/body_room.h"
#include "engine/feature.h"
#include "engine/receive.h"
#include "engine/features/origin.h"
#include "engine/queue/queue_facts.h"
#include "engine/publish.h"
#include "engine/attempt/attempt_log.h"

struct engine *engine_new(const struct engine_options *options) {
    struct engine *engine = memory_new(sizeof *engine);
    engine->options = *options;
    engine->store = options->store;
    engine->record_retry_ms = RECORD_RETRY_FIRST_MS;
    rng_seed(&engine->rng, options->seed);
    list_init(&engine->visiting);
    list_init(&engine->full_dlqs);
    list_init(&engine->rousing);
    list_init(&engine->parked);
    list_init(&engine->deciding);
    list_init(&engine->answers);
    list_init(&engine->facts);
    list_init(&engine->unrecorded);
    list_init(&engine->commits);
    list_init(&engine->woken);
    list_init(&engine->served);
    list_init(&engine->asked);
    mailbox_init(&engine->mailbox);
    body_room_begin(engine);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_mutex_init(&engine->wake_mutex, NULL);
    engine->advance = advance_attempt;
    engine->attempts = pool_new();
    engine->attempt_log = attempt_log_new();
    return engine;
}

/* Called by the store when a queue has a message ready. */
static void on_ready(void *arg, uint32_t number) {
    struct engine *engine = arg;
    pthread_mutex_lock(&engine->wake_mutex);
    struct queue *queue = number < engine->by_number_count ? engine->by_number[number] : NULL;
    pthread_mutex_unlock(&engine->wake_mutex);
    if (queue)
        engine_wake(queue);
}

static void index_by_number(struct engine *engine, struct queue *queue) {
    size_t need = (size_t)queue->number + 1;
    pthread_mutex_lock(&engine->wake_mutex);
    if (need > engine->by_number_count) {
        engine->by_number = memory_grow(engine->by_number, need * sizeof(struct queue *));
        while (engine->by_number_count < need)
            engine->by_number[engine->by_number_count++] = NULL;
    }
    engine->by_number[queue->number] = queue;
    pthread_mutex_unlock(&engine->wake_mutex);
}

enum status engine_add(struct engine *engine, const struct engine_queue_options *options,
                       struct err *err) {
    struct queue *queue;
    enum status status = queue_new(engine, options, &queue, err);
    if (status != STATUS_OK)
        return status;
    engine->queues =
        memory_grow(engine->queues, (engine->queue_count + 1) * sizeof(struct queue *));
    engine->queues[engine->queue_count++] = queue;
    map_insert(&engine->by_name, &queue->by_name, bytes_hash(queue->name));
    index_by_number(engine, queue);
    return STATUS_OK;
}

/* ---- queues in no configuration ---- */

/* The name of a queue from engine_serve. */
struct asked {
    struct engine_post post;
    struct list link; /* in engine->asked, until the engine is freed */
    char name[];      /* NUL-terminated */
};

static void open_asked(struct engine *engine, struct engine_post *post) {
    static const struct policy no_policy = {.rule_count = 0};
    struct asked *asked = CONTAINER_OF(post, struct asked, post);
    struct engine_queue_options options = {
        .name = bytes_of(asked->name),
        .rules = {.policy = &no_policy, .concurrency = ENGINE_SERVED_AT_ONCE},
        .broker = &origin_no_broker};
    struct queue *queue;
    if (engine_queue(engine, options.name) ||
        queue_new(engine, &options, &queue, NULL) != STATUS_OK)
        return;
    queue->foreign = true;
    list_push_back(&engine->served, &queue->serving);
    index_by_number(engine, queue);
    queue_visit(queue);
}

static bool was_asked(const struct engine *engine, struct bytes name) {
    LIST_EACH(node, &engine->asked)
    if (bytes_is(name, CONTAINER_OF(node, struct asked, link)->name))
        return true;
    return false;
}

void engine_serve(struct engine *engine, struct bytes name) {
    pthread_mutex_lock(&engine->wake_mutex);
    if (!was_asked(engine, name)) {
        struct asked *asked = memory_new(sizeof *asked + name.len + 1);
        memcpy(asked->name, name.ptr, name.len);
        asked->post.open = open_asked;
        list_push_back(&engine->asked, &asked->link);
        engine_post(engine, &asked->post);
    }
    pthread_mutex_unlock(&engine->wake_mutex);
}

enum status engine_recover(struct engine *engine, struct err *err) {
    engine->now = clock_now(engine->options.clock);
    engine->began = clock_began(engine->options.clock);
    clock_jumps_note(&engine->jumps, engine->began);
    for (size_t i = 0; i < engine->queue_count; i++) {
        queue_facts_load(engine->queues[i]);
        FEATURES_TELL(recover, engine->queues[i]);
        receive_begin(engine->queues[i]);
        queue_visit(engine->queues[i]);
    }
    engine->store->vtable->listen(engine->store, on_ready, engine);
    if (!engine->options.attempt_log_path)
        return STATUS_OK;
    return attempt_log_open(engine->attempt_log, engine->options.attempt_log_path, err);
}

static void read_mail(struct engine *engine) {
    struct mail *next;
    for (struct mail *mail = mailbox_take(&engine->mailbox); mail; mail = next) {
        next = mail->next;
        struct engine_post *post = CONTAINER_OF(mail, struct engine_post, mail);
        post->open(engine, post);
    }
    pthread_mutex_lock(&engine->wake_mutex);
    for (struct list *node; (node = list_pop_front(&engine->woken));)
        queue_visit(CONTAINER_OF(node, struct queue, woken));
    pthread_mutex_unlock(&engine->wake_mutex);
}

static void ring_timers(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->timers)) && node->at <= engine->now.mono.ms) {
        heap_remove(&engine->timers, node);
        queue_visit(CONTAINER_OF(node, struct queue, timer));
    }
}

static void set_timer(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct mono at = feed_next_wake(queue);
    for (const struct engine_feature *const *f = engine_features; *f; f++)
        if ((*f)->queue_wake)
            at = mono_earlier(at, (*f)->queue_wake(queue));
    heap_remove(&engine->timers, &queue->timer);
    if (at.ms == MONO_NEVER.ms)
        return;
    queue->timer.at = at.ms;
    queue->timer.tie = queue->number;
    heap_insert(&engine->timers, &queue->timer);
}

static void feed_queues(struct engine *engine) {
    for (struct list *node; (node = list_pop_front(&engine->visiting));) {
        struct queue *queue = CONTAINER_OF(node, struct queue, visiting);
        feed_queue(queue);
        FEATURES_TELL(fed, queue);
        body_room_fed(queue);
        set_timer(queue);
    }
}

/* The drain is over: calls in flight are interrupted, which does not count as an attempt. */
static void drain(struct engine *engine) {
    if (!engine->stopping || engine->cancelled || engine->now.mono.ms < engine->drain_until.ms)
        return;
    engine->cancelled = true;
    for (size_t i = 0; i < engine->queue_count; i++) {
        LIST_EACH(node, &engine->queues[i]->attempts) {
            struct attempt *attempt = CONTAINER_OF(node, struct attempt, link);
            if (attempt->state != ATTEMPT_CALLING)
                continue;
            struct handler *handler = attempt_handler(attempt)->handler;
            handler->vtable->cancel(handler, &attempt->call);
        }
        FEATURES_TELL(cancel, engine->queues[i]);
    }
}

static struct mono next_turn(struct engine *engine) {
    struct mono at = heap_next(&engine->timers);
    for (const struct engine_feature *const *f = engine_features; *f; f++)
        if ((*f)->next_wake)
            at = mono_earlier(at, (*f)->next_wake(engine));
    if (commit_waits(engine))
        at = mono_earlier(at, engine->commit_again);
    at = mono_earlier(at, publish_next(engine));
    if (body_room_waits(engine))
        at = engine->now.mono;
    if (engine->stopping && !engine->cancelled)
        at = mono_earlier(at, engine->drain_until);
    return at;
}

/* No more posts will come, except requests. */
static bool at_rest(const struct engine *engine) {
    bool rest = list_empty(&engine->commits);
    for (size_t i = 0; i < engine->queue_count; i++)
        rest = rest && queue_rests(engine->queues[i]);
    LIST_EACH(node, &engine->served)
    rest = rest && queue_rests(CONTAINER_OF(node, struct queue, serving));
    return rest;
}

struct mono engine_turn(struct engine *engine, struct instant now) {
    pthread_mutex_lock(&engine->mutex);
    engine->now = now;
    clock_jumps_note(&engine->jumps, now);
    read_mail(engine);
    ring_timers(engine);
    FEATURES_TELL(ring, engine);
    drain(engine);
    publish_again(engine);
    commit_again(engine);
    body_room_serve(engine);
    feed_queues(engine);
    FEATURES_TELL(turn_ends, engine);
    attempt_rouse(engine);
    commit_turn(engine);
    struct mono next = next_turn(engine);
    pthread_mutex_unlock(&engine->mutex);
    return next;
}

/* After the drain, a store that cannot commit must not keep the engine from stopping: unrecorded
 * messages are in the same state as before their hand-over. */
static bool may_leave(const struct engine *engine) {
    return engine->leaving && at_rest(engine) && (engine->cancelled || !commit_waits(engine));
}

void engine_run(struct engine *engine) {
    for (;;) {
        struct mono next = engine_turn(engine, clock_now(engine->options.clock));
        if (may_leave(engine))
            return;
        mailbox_wait(&engine->mailbox, next);
    }
}

static void open_hold(struct engine *engine, struct engine_post *post) {
    (void)post;
    if (engine->stopping)
        return;
    engine->stopping = true;
    engine->drain_until = mono_after(engine->now.mono, engine->drain_ms);
    for (size_t i = 0; i < engine->queue_count; i++) {
        struct queue *queue = engine->queues[i];
        FEATURES_TELL(hold, queue);
        receive_want(queue);
        queue_facts_save_last(queue);
    }
}

void engine_hold(struct engine *engine, int64_t drain_ms) {
    engine->drain_ms = drain_ms;
    engine->hold_post.open = open_hold;
    engine_post(engine, &engine->hold_post);
}

static void open_stop(struct engine *engine, struct engine_post *post) {
    (void)post;
    assert(engine->stopping);
    engine->leaving = true;
}

void engine_stop(struct engine *engine) {
    engine->stop_post.open = open_stop;
    engine_post(engine, &engine->stop_post);
}

static void free_served(struct engine *engine) {
    for (struct list *node; (node = list_pop_front(&engine->served));)
        queue_free(CONTAINER_OF(node, struct queue, serving));
    for (struct list *node; (node = list_pop_front(&engine->asked));)
        free(CONTAINER_OF(node, struct asked, link));
}

void engine_free(struct engine *engine) {
    if (!engine)
        return;
    body_room_end(engine);
    commit_drop(engine);
    mailbox_take(&engine->mailbox);
    for (size_t i = 0; i < engine->queue_count; i++)
        queue_free(engine->queues[i]);
    free_served(engine);
    FEATURES_TELL(drop, engine);
    heap_free(&engine->timers);
    heap_free(&engine->lease_deadlines);
    heap_free(&engine->poll_deadlines);
    map_free(&engine->leases);
    heap_free(&engine->publications);
    map_free(&engine->by_name);
    attempt_log_free(engine->attempt_log);
    pool_close(engine->attempts);
    mailbox_free(&engine->mailbox);
    pthread_mutex_destroy(&engine->mutex);
    pthread_mutex_destroy(&engine->wake_mutex);
    free(engine->by_number);
    free(engine->queues);
    free(engine);
}

void engine_ask(struct engine *engine, struct engine_request *request) {
    request->post.open = control_open;
    engine_post(engine, &request->post);
}
