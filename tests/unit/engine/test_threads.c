/* The engine on a thread of its own, with its neighbours on theirs: one pushes and looks, another
 * answers calls. What is checked is that everything gets through; a thread sanitizer checks the
 * rest. */
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/builtin/builtin.h"
#include "engine/engine.h"
#include "store/fake_store.h"

enum { MESSAGES = 400, CONCURRENCY = 8, FAIL_EVERY = 10, DRAIN_MS = 3600 * 1000 };

/* Calls on their way to the worker that answers them. */
struct desk {
    struct handler handler;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct call *calls[CONCURRENCY];
    size_t count, answered;
    bool closed;
};

static struct instant read_clock(struct clock *clock) {
    struct timespec wall, mono;
    (void)clock;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    return (struct instant){{(int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000},
                            {(int64_t)mono.tv_sec * 1000 + mono.tv_nsec / 1000000}};
}

static void start(struct handler *handler, struct call *call) {
    struct desk *desk = CONTAINER_OF(handler, struct desk, handler);
    pthread_mutex_lock(&desk->mutex);
    if (desk->count == CONCURRENCY)
        abort(); /* cmocka's own assertions belong to its thread */
    desk->calls[desk->count++] = call;
    pthread_cond_broadcast(&desk->changed);
    pthread_mutex_unlock(&desk->mutex);
}

static void cancel(struct handler *handler, struct call *call) {
    (void)handler;
    (void)call;
    abort(); /* nothing should last as long as the drain */
}

static const struct handler_vtable desk_vtable = {.kind = "http", .start = start, .cancel = cancel};

static struct call *next_call(struct desk *desk) {
    struct call *call = NULL;
    pthread_mutex_lock(&desk->mutex);
    while (desk->count == 0 && !desk->closed)
        pthread_cond_wait(&desk->changed, &desk->mutex);
    if (desk->count > 0)
        call = desk->calls[--desk->count];
    pthread_mutex_unlock(&desk->mutex);
    return call;
}

static void *answer_calls(void *arg) {
    struct desk *desk = arg;
    size_t number = 0;
    for (struct call *call; (call = next_call(desk)) != NULL;) {
        bool fails = ++number % FAIL_EVERY == 0;
        struct outcome outcome = {.ending = fails ? ENDING_FAILED : ENDING_OK,
                                  .kind = KIND_STATUS,
                                  .status = fails ? 400 : 200,
                                  .retry_after_ms = -1};
        call->done(call, &outcome);
        pthread_mutex_lock(&desk->mutex);
        desk->answered++;
        pthread_cond_broadcast(&desk->changed);
        pthread_mutex_unlock(&desk->mutex);
    }
    return NULL;
}

static void *run_engine(void *arg) {
    engine_run(arg);
    return NULL;
}

static void on_pushed(struct store_commit *commit, enum status status) {
    (void)commit;
    if (status != STATUS_OK)
        abort();
}

/* The commit is the store's until it is done, which may be after we have returned. */
static void push(struct store *store, uint32_t queue, size_t number, struct store_commit *commit) {
    char id[32];
    snprintf(id, sizeof id, "m%zu", number);
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = BYTES("q"),
                                .content_type = BYTES("text/plain"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    struct store_op op = {
        .kind = STORE_PUT, .queue = queue, .envelope = &envelope, .body = BYTES("x")};
    *commit = (struct store_commit){.ops = &op, .count = 1, .done = on_pushed};
    store->vtable->submit(store, commit);
}

static void await_answers(struct desk *desk, size_t count) {
    pthread_mutex_lock(&desk->mutex);
    while (desk->answered < count)
        pthread_cond_wait(&desk->changed, &desk->mutex);
    pthread_mutex_unlock(&desk->mutex);
}

static void close_desk(struct desk *desk) {
    pthread_mutex_lock(&desk->mutex);
    desk->closed = true;
    pthread_cond_broadcast(&desk->changed);
    pthread_mutex_unlock(&desk->mutex);
}

static void everything_gets_through_and_a_stop_leaves_nothing_behind(void **state) {
    (void)state;
    struct desk desk = {.handler = {&desk_vtable},
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    struct engine_handler handlers[] = {{.handler = &desk.handler}};
    struct clock clock = {.now = read_clock};
    struct store *store = fake_store_new(true);
    uint32_t number = store->vtable->queue_number(store, BYTES("q"));
    struct policy policy;
    struct engine_dlq dlq = {.name = BYTES("q.dlq"), .cap = MESSAGES};
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    struct engine *engine =
        engine_new(&(struct engine_options){.store = store, .clock = &clock, .seed = 1});
    struct engine_queue_options queue = {
        .name = BYTES("q"),
        .rules = {.policy = &policy, .concurrency = CONCURRENCY, .dlqs = &dlq, .dlq_count = 1},
        .broker = builtin_new(store, number),
        .handlers = handlers,
        .handler_count = 1};
    assert_int_equal(engine_add(engine, &queue, NULL), STATUS_OK);
    assert_int_equal(engine_recover(engine, NULL), STATUS_OK);

    pthread_t worker, runner;
    pthread_create(&worker, NULL, answer_calls, &desk);
    pthread_create(&runner, NULL, run_engine, engine);
    struct engine_queue_view view;
    struct store_commit *commits = memory_array(MESSAGES, sizeof *commits);
    for (size_t i = 0; i < MESSAGES; i++) {
        push(store, number, i, &commits[i]);
        assert_true(engine_view(engine, BYTES("q"), &view));
        assert_true(view.in_flight <= CONCURRENCY);
    }
    await_answers(&desk, MESSAGES);
    engine_hold(engine, DRAIN_MS);
    engine_stop(engine);
    pthread_join(runner, NULL);
    close_desk(&desk);
    pthread_join(worker, NULL);

    engine_view_at(engine, 0, &view);
    assert_int_equal(view.results[RESULT_OK], MESSAGES - MESSAGES / FAIL_EVERY);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("q.dlq")), MESSAGES / FAIL_EVERY);
    assert_int_equal(view.counts.queued + view.counts.taken + view.counts.pending_retry, 0);
    engine_free(engine);
    queue.broker->vtable->free(queue.broker);
    store->vtable->close(store);
    free(commits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_gets_through_and_a_stop_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
