#include "caller.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/containers/list.h"

static int64_t clock_ms(clockid_t id) {
    struct timespec at;
    clock_gettime(id, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static struct instant now(struct clock *clock) {
    (void)clock;
    return (struct instant){{clock_ms(CLOCK_REALTIME)}, {clock_ms(CLOCK_MONOTONIC)}};
}

struct clock caller_clock = {.now = now};

static bool has_child(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0;
}

/* Somebody else may stop it too, with another signal. */
static pid_t await_child(void) {
    siginfo_t info = {0};
    do
        waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT);
    while (info.si_code == CLD_STOPPED && info.si_status != SIGTTOU);
    return info.si_pid;
}

static struct instant late_now(struct clock *clock) {
    enum { DAY_MS = 24 * 3600 * 1000 };
    struct late_clock *late = CONTAINER_OF(clock, struct late_clock, clock);
    if (!late->late && has_child() && late->in_time-- <= 0) {
        late->late = true;
        late->pid = await_child();
    }
    struct instant at = now(clock);
    at.mono.ms += late->late ? DAY_MS : 0;
    return at;
}

void late_clock_init(struct late_clock *late, int in_time) {
    *late = (struct late_clock){.clock = {.now = late_now}, .in_time = in_time};
}

static struct outcome copy(const struct outcome *outcome, struct arena *arena) {
    struct outcome kept = *outcome;
    kept.error_type = arena_dup(arena, outcome->error_type);
    kept.error_message = arena_dup(arena, outcome->error_message);
    kept.stack_trace = arena_dup(arena, outcome->stack_trace);
    kept.reason = arena_dup(arena, outcome->reason);
    kept.answer = arena_dup(arena, outcome->answer);
    kept.answer_type = arena_dup(arena, outcome->answer_type);
    return kept;
}

static void on_done(struct call *call, const struct outcome *outcome) {
    struct caller *caller = (struct caller *)(void *)call; /* its first member */
    pthread_mutex_lock(&caller->mutex);
    caller->done_count++;
    caller->outcome = copy(outcome, &caller->arena);
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
    if (handler->vtable->rouse)
        handler->vtable->rouse(handler);
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

/* ---- groups ---- */

static void on_group_done(struct call_group *group, const struct outcome *whole,
                          const struct outcome *items) {
    struct group_caller *caller = (struct group_caller *)(void *)group; /* its first member */
    pthread_mutex_lock(&caller->mutex);
    caller->done_count++;
    caller->whole = copy(whole, &caller->arena);
    if ((whole->ending == ENDING_OK) != (items != NULL))
        abort();
    for (size_t i = 0; items && i < group->count; i++)
        caller->items[i] = copy(&items[i], &caller->arena);
    pthread_cond_broadcast(&caller->changed);
    pthread_mutex_unlock(&caller->mutex);
}

void group_caller_init(struct group_caller *caller, size_t count) {
    static const char *const ids[GROUP_CALLER_MAX] = {"m-1", "m-2", "m-3", "m-4",
                                                      "m-5", "m-6", "m-7", "m-8"};
    *caller = (struct group_caller){.group = {NULL, count, on_group_done}};
    caller->group.calls = caller->list;
    for (size_t i = 0; i < count; i++) {
        caller->list[i] = &caller->calls[i];
        caller->calls[i] = (struct call){
            .queue = BYTES("orders"),
            .id = bytes_of(ids[i]),
            .body = BYTES("{\"n\": 1.0}"),
            .content_type = BYTES("application/json"),
            .attempt = 1,
        };
    }
    pthread_mutex_init(&caller->mutex, NULL);
    pthread_cond_init(&caller->changed, NULL);
    arena_init_heap(&caller->arena, 1024);
}

void group_caller_wait(struct group_caller *caller) {
    pthread_mutex_lock(&caller->mutex);
    while (caller->done_count == 0)
        pthread_cond_wait(&caller->changed, &caller->mutex);
    pthread_mutex_unlock(&caller->mutex);
}

void group_caller_run(struct group_caller *caller, struct handler *handler) {
    handler->vtable->start_group(handler, &caller->group);
    group_caller_wait(caller);
}

void group_caller_free(struct group_caller *caller) {
    if (caller->done_count != 1)
        abort();
    arena_free(&caller->arena);
    pthread_cond_destroy(&caller->changed);
    pthread_mutex_destroy(&caller->mutex);
}
