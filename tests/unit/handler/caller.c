#include "caller.h"

#include <stdlib.h>
#include <time.h>

static int64_t clock_ms(clockid_t id) {
    struct timespec at;
    clock_gettime(id, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static struct instant now(struct clock *clock) {
    (void)clock;
    return (struct instant){{clock_ms(CLOCK_REALTIME)}, {clock_ms(CLOCK_MONOTONIC)}};
}

struct clock caller_clock = {now};

static void on_done(struct call *call, const struct outcome *outcome) {
    struct caller *caller = (struct caller *)(void *)call; /* its first member */
    pthread_mutex_lock(&caller->mutex);
    caller->done_count++;
    caller->outcome = *outcome;
    caller->outcome.error_type = arena_dup(&caller->arena, outcome->error_type);
    caller->outcome.error_message = arena_dup(&caller->arena, outcome->error_message);
    caller->outcome.stack_trace = arena_dup(&caller->arena, outcome->stack_trace);
    caller->outcome.reason = arena_dup(&caller->arena, outcome->reason);
    caller->outcome.answer = arena_dup(&caller->arena, outcome->answer);
    caller->outcome.answer_type = arena_dup(&caller->arena, outcome->answer_type);
    pthread_cond_broadcast(&caller->changed);
    pthread_mutex_unlock(&caller->mutex);
}

void caller_init(struct caller *caller) {
    *caller = (struct caller){.call = {
                                  .queue = BYTES("orders"),
                                  .id = BYTES("m-1"),
                                  .body = BYTES("{\"n\":1}"),
                                  .content_type = BYTES("application/json"),
                                  .attempt = 1,
                                  .first_attempt_at = {1000},
                                  .done = on_done,
                              }};
    pthread_mutex_init(&caller->mutex, NULL);
    pthread_cond_init(&caller->changed, NULL);
    arena_init_heap(&caller->arena, 1024);
}

void caller_start(struct caller *caller, struct handler *handler) {
    handler->vtable->start(handler, &caller->call);
}

const struct outcome *caller_wait(struct caller *caller) {
    pthread_mutex_lock(&caller->mutex);
    while (caller->done_count == 0)
        pthread_cond_wait(&caller->changed, &caller->mutex);
    pthread_mutex_unlock(&caller->mutex);
    return &caller->outcome;
}

const struct outcome *caller_run(struct caller *caller, struct handler *handler) {
    caller_start(caller, handler);
    return caller_wait(caller);
}

void caller_free(struct caller *caller) {
    if (caller->done_count != 1)
        abort();
    arena_free(&caller->arena);
    pthread_cond_destroy(&caller->changed);
    pthread_mutex_destroy(&caller->mutex);
}
