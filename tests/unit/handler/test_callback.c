/* The callback handler: functions inside our process, on threads of the handler's own. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "caller.h"
#include "handler/callback/callback.h"

static const struct outcome ok = {.ending = ENDING_OK, .retry_after_ms = -1};

/* What a test's function waits for, or leaves for others. */
struct stage {
    struct handler *handler;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t token;
    bool entered, released;
    atomic_bool saw_cancel;
    atomic_int running, most;
};

static struct stage *stage_new(callback_run *run, size_t threads) {
    struct stage *stage = calloc(1, sizeof *stage);
    pthread_mutex_init(&stage->mutex, NULL);
    pthread_cond_init(&stage->changed, NULL);
    struct callback_options options = {
        .run = run, .arg = stage, .threads = threads, .first_token = 7, .clock = &caller_clock};
    stage->handler = callback_new(&options);
    return stage;
}

static void stage_free(struct stage *stage) {
    stage->handler->vtable->free(stage->handler);
    pthread_cond_destroy(&stage->changed);
    pthread_mutex_destroy(&stage->mutex);
    free(stage);
}

static void set(struct stage *stage, bool *flag) {
    pthread_mutex_lock(&stage->mutex);
    *flag = true;
    pthread_cond_broadcast(&stage->changed);
    pthread_mutex_unlock(&stage->mutex);
}

static void await(struct stage *stage, const bool *flag) {
    pthread_mutex_lock(&stage->mutex);
    while (!*flag)
        pthread_cond_wait(&stage->changed, &stage->mutex);
    pthread_mutex_unlock(&stage->mutex);
}

static void answer_at_once(void *arg, const struct callback_call *call) {
    struct stage *stage = arg;
    assert_true(callback_complete(stage->handler, call->token, &ok));
    assert_false(callback_complete(stage->handler, call->token, &ok));
}

static void answer_later(void *arg, const struct callback_call *call) {
    struct stage *stage = arg;
    stage->token = call->token;
    set(stage, &stage->entered);
}

static void answer_when_released(void *arg, const struct callback_call *call) {
    struct stage *stage = arg;
    int running = atomic_fetch_add(&stage->running, 1) + 1;
    if (running > atomic_load(&stage->most))
        atomic_store(&stage->most, running);
    set(stage, &stage->entered);
    await(stage, &stage->released);
    stage->saw_cancel = callback_cancelled(stage->handler, call->token);
    atomic_fetch_sub(&stage->running, 1);
    callback_complete(stage->handler, call->token, &ok);
}

static void a_function_answers_before_it_returns(void **state) {
    (void)state;
    struct stage *stage = stage_new(answer_at_once, 1);
    for (int i = 0; i < 100; i++) {
        struct caller caller;
        caller_init(&caller);
        assert_int_equal(caller_run(&caller, stage->handler)->ending, ENDING_OK);
        caller_free(&caller);
    }
    stage_free(stage);
}

static void somebody_else_answers_later(void **state) {
    (void)state;
    struct stage *stage = stage_new(answer_later, 1);
    struct outcome failed = {.ending = ENDING_FAILED,
                             .kind = KIND_REPORTED,
                             .error_type = BYTES("Busy"),
                             .retry_after_ms = -1};
    struct caller caller;
    caller_init(&caller);
    caller_start(&caller, stage->handler);
    await(stage, &stage->entered);
    assert_int_equal(stage->token, 7);
    assert_false(callback_complete(stage->handler, 99, &ok));
    assert_true(callback_complete(stage->handler, stage->token, &failed));
    assert_bytes(caller_wait(&caller)->error_type, "Busy");
    assert_false(callback_complete(stage->handler, stage->token, &ok));
    caller_free(&caller);
    stage_free(stage);
}

/* Each waits for the other. */
static void answer_in_company(void *arg, const struct callback_call *call) {
    struct stage *stage = arg;
    if (atomic_fetch_add(&stage->running, 1) + 1 == 2)
        set(stage, &stage->released);
    await(stage, &stage->released);
    callback_complete(stage->handler, call->token, &ok);
}

static void one_rouse_wakes_a_thread_for_every_call(void **state) {
    (void)state;
    struct stage *stage = stage_new(answer_in_company, 3);
    struct caller callers[2];
    for (size_t i = 0; i < 2; i++) {
        caller_init(&callers[i]);
        stage->handler->vtable->start(stage->handler, &callers[i].call);
    }
    stage->handler->vtable->rouse(stage->handler);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(caller_wait(&callers[i])->ending, ENDING_OK);
        caller_free(&callers[i]);
    }
    stage->handler->vtable->rouse(stage->handler); /* there is nothing to do */
    stage_free(stage);
}

static void no_more_run_at_once_than_there_are_threads(void **state) {
    (void)state;
    enum { CALLS = 16, THREADS = 3 };
    struct stage *stage = stage_new(answer_when_released, THREADS);
    struct caller callers[CALLS];
    for (int i = 0; i < CALLS; i++) {
        caller_init(&callers[i]);
        caller_start(&callers[i], stage->handler);
    }
    await(stage, &stage->entered);
    set(stage, &stage->released);
    for (int i = 0; i < CALLS; i++) {
        caller_wait(&callers[i]);
        caller_free(&callers[i]);
    }
    assert_true(atomic_load(&stage->most) <= THREADS);
    stage_free(stage);
}

static void what_nobody_answers_is_interrupted(void **state) {
    (void)state;
    struct stage *stage = stage_new(answer_later, 1);
    struct caller caller;
    caller_init(&caller);
    caller_start(&caller, stage->handler);
    await(stage, &stage->entered);
    stage->handler->vtable->cancel(stage->handler, &caller.call);
    assert_int_equal(caller_wait(&caller)->ending, ENDING_INTERRUPTED);
    assert_false(callback_complete(stage->handler, stage->token, &ok));
    caller_free(&caller);
    stage_free(stage);
}

static void a_function_that_runs_is_told_and_not_torn_away(void **state) {
    (void)state;
    struct stage *stage = stage_new(answer_when_released, 1);
    struct caller running, waiting;
    caller_init(&running);
    caller_init(&waiting);
    caller_start(&running, stage->handler);
    await(stage, &stage->entered);
    caller_start(&waiting, stage->handler);
    stage->handler->vtable->cancel(stage->handler, &running.call);
    stage->handler->vtable->cancel(stage->handler, &waiting.call);
    set(stage, &stage->released);
    assert_int_equal(caller_wait(&running)->ending, ENDING_OK);
    assert_true(stage->saw_cancel);
    assert_int_equal(caller_wait(&waiting)->ending, ENDING_INTERRUPTED); /* it never began */
    caller_free(&running);
    caller_free(&waiting);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_answers_before_it_returns),
        cmocka_unit_test(somebody_else_answers_later),
        cmocka_unit_test(one_rouse_wakes_a_thread_for_every_call),
        cmocka_unit_test(no_more_run_at_once_than_there_are_threads),
        cmocka_unit_test(what_nobody_answers_is_interrupted),
        cmocka_unit_test(a_function_that_runs_is_told_and_not_torn_away),
    };
    return cmocka_run_group_tests_name("callback", tests, NULL, NULL);
}
