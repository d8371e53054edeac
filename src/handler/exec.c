/* The pool's thread owns every job; other threads reach it through the desk alone. A job's states:
 *
 *   waiting (the machine has no room for a process) ⇄ tried again … → running → ended
 *           └──────────── its time is over, or it is cancelled ─────────────────↗
 *
 * Events of one epoll_wait may belong to one job, so a job that ended is only listed, and freed
 * when all of them were seen. The thread lives as long as the pool because its children die with
 * it. */
#include "handler/exec.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/thread.h"
#include "handler/desk.h"
#include "handler/exec_env.h"
#include "handler/exec_run.h"

enum {
    EXEC_ROOM_RETRY_MS = 20, /* between two tries to start a process where there was no room */
    EXEC_EVENTS_MAX = 256,   /* taken at once */
    EXEC_SLEEP_MAX_MS = 3600 * 1000,
};

struct exec_pool {
    struct clock *clock;
    struct desk desk;
    struct exec_env env;
    pthread_t thread;
    int epoll;
    int bell; /* eventfd */
    int null; /* /dev/null: where nobody wants a child's stdout */
    struct heap deadlines;
    struct list waiting, ended; /* jobs */
    struct mono try_at;         /* when those that wait are tried again */
    uint64_t started;           /* breaks ties of deadlines */
};

struct exec {
    struct handler handler;
    struct exec_pool *pool;
    char **argv;
    char *cwd; /* NULL: ours */
    int64_t timeout_ms;
    struct arena arena; /* holds the texts above */
};

struct job {
    struct desk_entry entry; /* its call */
    struct exec *exec;
    struct exec_run run;
    struct heap_node deadline;
    struct list place; /* in waiting or ended */
    struct mono began;
    int trouble; /* errno that keeps it waiting; 0: it runs, or ran */
};

/* ---- jobs ---- */

static void end_job(struct exec_pool *pool, struct job *job, struct outcome *outcome) {
    struct call *call = job->entry.call;
    outcome->duration_ms = clock_now(pool->clock).mono.ms - job->began.ms;
    list_remove(&job->place);
    heap_remove(&pool->deadlines, &job->deadline);
    desk_leave(&pool->desk, &job->entry);
    call->done(call, outcome);
    exec_run_free(&job->run);
    free(job);
}

/* The job's process was reaped. */
static void end_run(struct exec_pool *pool, struct job *job) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    job->run.end.timeout_ms = job->exec->timeout_ms;
    struct outcome outcome;
    exec_report_end(&job->run.end, tail_text(&job->run.said, &arena), &arena, &outcome);
    if (outcome.ending == ENDING_OK && job->entry.call->wants_answer)
        exec_report_answer(buf_view(&job->run.answer), &outcome);
    end_job(pool, job, &outcome);
    arena_free(&arena);
}

/* It never became a process. */
static void end_unborn(struct exec_pool *pool, struct job *job, enum exec_stop why) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct outcome outcome = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    if (why == EXEC_STOP_TIMEOUT)
        exec_report_no_room(job->exec->timeout_ms, job->trouble, &arena, &outcome);
    else if (why == EXEC_STOP_NONE)
        exec_report_unrunnable(job->exec->argv[0], job->trouble, &arena, &outcome);
    end_job(pool, job, &outcome);
    arena_free(&arena);
}

static void stop_job(struct exec_pool *pool, struct job *job, enum exec_stop why) {
    if (job->trouble != 0)
        end_unborn(pool, job, why);
    else
        exec_run_stop(&job->run, why);
}

/* Trouble of the machine, which passes; any other is the program's. */
static bool may_pass(int trouble) {
    return trouble == EAGAIN || trouble == ENOMEM || trouble == EMFILE || trouble == ENFILE ||
           trouble == ETXTBSY;
}

static void try_job(struct exec_pool *pool, struct job *job) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct exec_child child = {
        .argv = job->exec->argv,
        .env = exec_env_for(&pool->env, job->entry.call, &arena),
        .cwd = job->exec->cwd,
        .out = job->entry.call->wants_answer ? -1 : pool->null,
    };
    job->trouble = exec_run_begin(&job->run, pool->epoll, &child, job->entry.call->body);
    arena_free(&arena);
}

/* Oldest first; one that finds no room keeps those behind it waiting too. */
static void try_waiting(struct exec_pool *pool, struct mono now) {
    if (now.ms < pool->try_at.ms)
        return;
    pool->try_at = MONO_NEVER;
    while (!list_empty(&pool->waiting)) {
        struct job *job = CONTAINER_OF(pool->waiting.next, struct job, place);
        try_job(pool, job);
        if (may_pass(job->trouble)) {
            pool->try_at = mono_after(now, EXEC_ROOM_RETRY_MS);
            return;
        }
        list_remove(&job->place);
        if (job->trouble != 0)
            end_unborn(pool, job, EXEC_STOP_NONE);
    }
}

static void start_job(struct exec_pool *pool, struct exec *exec, struct call *call,
                      struct mono now) {
    struct job *job = memory_new(sizeof *job);
    job->exec = exec;
    job->began = now;
    job->trouble = EAGAIN;
    job->deadline.at = mono_after(now, exec->timeout_ms).ms;
    job->deadline.tie = pool->started++;
    heap_insert(&pool->deadlines, &job->deadline);
    desk_enter(&pool->desk, &job->entry, call);
    if (list_empty(&pool->waiting))
        pool->try_at = now;
    list_push_back(&pool->waiting, &job->place);
}

/* ---- the pool's thread ---- */

static void take_orders(struct exec_pool *pool, struct mono now) {
    for (struct desk_order *order = desk_take(&pool->desk), *next; order; order = next) {
        next = desk_next(order);
        struct desk_entry *entry = desk_find(&pool->desk, order->call);
        if (order->wish == DESK_START)
            start_job(pool, CONTAINER_OF(order->handler, struct exec, handler), order->call, now);
        else if (entry)
            stop_job(pool, CONTAINER_OF(entry, struct job, entry), EXEC_STOP_CANCEL);
        free(order);
    }
}

static void stop_overdue(struct exec_pool *pool, struct mono now) {
    struct heap_node *first;
    while ((first = heap_first(&pool->deadlines)) && first->at <= now.ms) {
        heap_remove(&pool->deadlines, first);
        stop_job(pool, CONTAINER_OF(first, struct job, deadline), EXEC_STOP_TIMEOUT);
    }
}

static int sleep_ms(const struct exec_pool *pool, struct mono now) {
    struct mono until = list_empty(&pool->waiting) ? MONO_NEVER : pool->try_at;
    struct heap_node *first = heap_first(&pool->deadlines);
    if (first)
        until = mono_earlier(until, (struct mono){first->at});
    if (until.ms <= now.ms)
        return 0;
    return until.ms - now.ms < EXEC_SLEEP_MAX_MS ? (int)(until.ms - now.ms) : EXEC_SLEEP_MAX_MS;
}

static void answer_bell(struct exec_pool *pool) {
    eventfd_t rung;
    eventfd_read(pool->bell, &rung);
}

static void see_event(struct exec_pool *pool, struct exec_watch *watch) {
    if (!watch) {
        answer_bell(pool);
        return;
    }
    struct exec_run *run = watch->run;
    bool ended_before = run->ended;
    exec_run_ready(watch);
    if (run->ended && !ended_before)
        list_push_back(&pool->ended, &CONTAINER_OF(run, struct job, run)->place);
}

static void wait_for_events(struct exec_pool *pool) {
    struct epoll_event events[EXEC_EVENTS_MAX];
    struct mono now = clock_now(pool->clock).mono;
    int count = epoll_wait(pool->epoll, events, EXEC_EVENTS_MAX, sleep_ms(pool, now));
    for (int i = 0; i < count; i++)
        see_event(pool, events[i].data.ptr);
    if (!list_empty(&pool->ended))
        pool->try_at = clock_now(pool->clock).mono; /* there may be room now */
    while (!list_empty(&pool->ended))
        end_run(pool, CONTAINER_OF(pool->ended.next, struct job, place));
}

static void *run_pool(void *arg) {
    struct exec_pool *pool = arg;
    while (!desk_closing(&pool->desk)) {
        struct mono now = clock_now(pool->clock).mono;
        take_orders(pool, now);
        try_waiting(pool, now);
        stop_overdue(pool, now);
        wait_for_events(pool);
    }
    take_orders(pool, clock_now(pool->clock).mono); /* cancels that came too late */
    return NULL;
}

/* ---- the outside ---- */

static void wake(void *arg) {
    struct exec_pool *pool = arg;
    eventfd_write(pool->bell, 1);
}

/* Whoever started us may have left SIGCHLD ignored; then the kernel reaps our children itself and
 * nobody learns how they ended. */
static void stop_ignoring_children(void) {
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    if (now.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

struct exec_pool *exec_pool_new(struct clock *clock) {
    struct exec_pool *pool = memory_new(sizeof *pool);
    pool->clock = clock;
    pool->try_at = MONO_NEVER;
    pool->epoll = epoll_create1(EPOLL_CLOEXEC);
    pool->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pool->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert(pool->epoll >= 0 && pool->bell >= 0 && pool->null >= 0);
    struct epoll_event bell = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, pool->bell, &bell);
    list_init(&pool->waiting);
    list_init(&pool->ended);
    stop_ignoring_children();
    exec_env_init(&pool->env);
    desk_init(&pool->desk, wake, pool);
    thread_start(&pool->thread, "exec-pool", run_pool, pool);
    return pool;
}

void exec_pool_free(struct exec_pool *pool) {
    if (!pool)
        return;
    desk_close(&pool->desk);
    pthread_join(pool->thread, NULL);
    desk_free(&pool->desk);
    exec_env_free(&pool->env);
    heap_free(&pool->deadlines);
    close(pool->null);
    close(pool->bell);
    close(pool->epoll);
    free(pool);
}

static void exec_start(struct handler *handler, struct call *call) {
    desk_start(&CONTAINER_OF(handler, struct exec, handler)->pool->desk, handler, call);
}

static void exec_cancel(struct handler *handler, struct call *call) {
    desk_cancel(&CONTAINER_OF(handler, struct exec, handler)->pool->desk, handler, call);
}

static void exec_free(struct handler *handler) {
    struct exec *exec = CONTAINER_OF(handler, struct exec, handler);
    arena_free(&exec->arena);
    free(exec);
}

static const struct handler_vtable exec_vtable = {
    .kind = "exec",
    .start = exec_start,
    .cancel = exec_cancel,
    .free = exec_free,
};

struct handler *exec_new(struct exec_pool *pool, const struct exec_options *options) {
    assert(options->argc > 0 && options->timeout_ms > 0);
    struct exec *exec = memory_new(sizeof *exec);
    exec->handler.vtable = &exec_vtable;
    exec->pool = pool;
    exec->timeout_ms = options->timeout_ms;
    arena_init_heap(&exec->arena, 1024);
    exec->cwd = options->cwd.len ? arena_cstr(&exec->arena, options->cwd) : NULL;
    exec->argv = arena_alloc(&exec->arena, (options->argc + 1) * sizeof *exec->argv);
    for (size_t i = 0; i < options->argc; i++)
        exec->argv[i] = arena_cstr(&exec->arena, options->argv[i]);
    return &exec->handler;
}
