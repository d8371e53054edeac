/* stream: a queue of hand-overs and a set of long-lived workers. When a worker dies with a
 * hand-over, the hand-over fails with the worker's exit status, unless none of it was read: then
 * the worker was about to end anyway, and the hand-over waits for the next worker within the same
 * attempt.
 *
 * Everything runs on the exec pool's thread. */
#include "handler/stream/stream.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "handler/stream/stream_worker.h"

struct stream {
    struct exec_user user;
    struct stream_owner owner;
    int64_t timeout_ms;
    uint32_t workers;
    uint64_t max_messages;
    struct arena arena;   /* holds the owner's texts */
    struct list waiting;  /* hand-overs without a worker */
    struct list idle;     /* workers without a hand-over … */
    struct list at_work;  /* … with one … */
    struct list on_leave; /* … and dismissed ones, which end soon */
    uint32_t staff;       /* workers that are not dismissed */
    uint32_t vain;        /* consecutive workers that ended before they read a message */
    int64_t backoff_ms;   /* delay before the next start */
    struct exec_timer again;
    bool leaving;
};

static struct stream *of_worker(const struct stream_worker *worker) {
    return CONTAINER_OF(worker->owner, struct stream, owner);
}

/* ---- tasks ---- */

static void end_task(struct stream *stream, struct stream_task *task, struct outcome *whole,
                     const struct outcome *items) {
    struct exec_pool *pool = stream->user.pool;
    whole->duration_ms = exec_pool_now(pool).ms - task->began.ms;
    list_remove(&task->waiting);
    call_queue_leave(exec_pool_desk(pool), &task->entry);
    task_end(task->entry.task, whole, items);
    free(task);
}

/* No worker can be started: the program cannot run, or the machine lacks resources. */
static void end_waiting(struct stream *stream, const struct outcome *why) {
    while (!list_empty(&stream->waiting)) {
        struct outcome outcome = *why;
        end_task(stream, CONTAINER_OF(stream->waiting.next, struct stream_task, waiting), &outcome,
                 NULL);
    }
}

/* ---- starting workers ---- */

static void delay_start(struct stream *stream) {
    stream->backoff_ms = stream->backoff_ms
                             ? duration_doubled(stream->backoff_ms, STREAM_BACKOFF_LAST_MS)
                             : STREAM_BACKOFF_FIRST_MS;
    exec_pool_set_timer(stream->user.pool, &stream->again,
                        mono_after(exec_pool_now(stream->user.pool), stream->backoff_ms));
}

static bool is_start_delayed(const struct stream *stream) {
    return stream->again.node.index != 0;
}

static void on_start_failed(struct stream *stream, int trouble) {
    struct arena arena;
    struct outcome why;
    arena_init_heap(&arena, 1024);
    delay_start(stream);
    bool passes = exec_pool_may_pass(trouble);
    if (passes)
        exec_report_no_room(stream->timeout_ms, trouble, &arena, &why);
    else
        exec_report_unrunnable(stream->owner.argv[0], trouble, &arena, &why);
    if (!passes || ++stream->vain >= STREAM_VAIN_MAX)
        end_waiting(stream, &why);
    arena_free(&arena);
}

static struct stream_worker *start_worker(struct stream *stream) {
    int trouble;
    if (stream->staff >= stream->workers || is_start_delayed(stream))
        return NULL;
    struct stream_worker *worker = stream_worker_new(&stream->owner, &trouble);
    if (!worker) {
        on_start_failed(stream, trouble);
        return NULL;
    }
    stream->staff++;
    return worker;
}

static struct stream_worker *free_worker(struct stream *stream) {
    struct list *node = list_pop_front(&stream->idle);
    return node ? CONTAINER_OF(node, struct stream_worker, link) : start_worker(stream);
}

static void assign_tasks(struct stream *stream) {
    struct stream_worker *worker;
    while (!list_empty(&stream->waiting) && (worker = free_worker(stream))) {
        struct list *node = list_pop_front(&stream->waiting);
        list_push_back(&stream->at_work, &worker->link);
        stream_worker_give(worker, CONTAINER_OF(node, struct stream_task, waiting),
                           stream->timeout_ms);
    }
}

static void on_again(struct exec_timer *timer) {
    assign_tasks(CONTAINER_OF(timer, struct stream, again));
}

/* ---- workers ---- */

static void dismiss(struct stream *stream, struct stream_worker *worker) {
    assert(stream->staff > 0 && !worker->dismissed);
    stream->staff--;
    list_remove(&worker->link);
    list_push_back(&stream->on_leave, &worker->link);
    stream_worker_dismiss(worker);
}

/* A worker whose process has ended, or was killed, gets nothing more. */
static void rest_worker(struct stream *stream, struct stream_worker *worker) {
    if (worker->run.ended || worker->breach)
        return;
    if (stream->max_messages && worker->given >= stream->max_messages) {
        dismiss(stream, worker);
        return;
    }
    list_remove(&worker->link);
    list_push_front(&stream->idle, &worker->link);
}

static void on_answered(struct stream_worker *worker, struct stream_task *task,
                        struct outcome *whole, const struct outcome *items) {
    struct stream *stream = of_worker(worker);
    stream->vain = 0;
    stream->backoff_ms = 0;
    rest_worker(stream, worker);
    end_task(stream, task, whole, items);
    assign_tasks(stream);
}

/* The worker ended while it had the hand-over. */
static void report_end(const struct stream_worker *worker, int64_t timeout_ms, struct arena *arena,
                       struct outcome *out) {
    struct exec_end end = worker->run.end;
    bool silent = end.stop == EXEC_STOP_NONE && !end.signalled && end.code == 0;
    end.timeout_ms = timeout_ms;
    if (worker->breach)
        exec_report_breach(worker->breach, out);
    else if (silent)
        exec_report_breach("the worker ended without an answer", out);
    else
        exec_report_end(&end, tail_text(&worker->run.said, arena), arena, out);
}

static bool was_killed(const struct stream_worker *worker) {
    return worker->breach || worker->run.end.stop != EXEC_STOP_NONE;
}

static void on_vain(struct stream *stream, struct stream_worker *worker, struct arena *arena) {
    struct outcome why;
    if (++stream->vain < STREAM_VAIN_MAX)
        return;
    exec_report_stillborn(stream->owner.argv[0], &worker->run.end,
                          tail_text(&worker->run.said, arena), arena, &why);
    end_waiting(stream, &why);
}

static void end_lost_task(struct stream *stream, struct stream_worker *worker,
                          struct arena *arena) {
    assert(worker->task);
    struct stream_task *task = worker->task;
    if (!was_killed(worker) && stream_worker_ignored_task(worker)) {
        list_push_front(&stream->waiting, &task->waiting);
        if (worker->given == 1)
            on_vain(stream, worker, arena);
        return;
    }
    struct outcome outcome;
    report_end(worker, stream->timeout_ms, arena, &outcome);
    end_task(stream, task, &outcome, NULL);
}

static void destroy(struct stream *stream) {
    assert(stream->leaving && list_empty(&stream->waiting));
    arena_free(&stream->arena);
    exec_pool_clear_timer(stream->user.pool, &stream->again);
    exec_pool_left(stream->user.pool);
    free(stream);
}

static bool is_unused(const struct stream *stream) {
    return stream->leaving && stream->staff == 0 && list_empty(&stream->on_leave);
}

/* A worker that ended by itself between two hand-overs fails nothing. */
static void on_gone(struct stream_worker *worker) {
    struct stream *stream = of_worker(worker);
    struct arena arena;
    arena_init_heap(&arena, 1024);
    if (!worker->dismissed) {
        assert(stream->staff > 0);
        stream->staff--;
        delay_start(stream);
    }
    if (worker->task)
        end_lost_task(stream, worker, &arena);
    stream_worker_free(worker);
    arena_free(&arena);
    if (is_unused(stream))
        destroy(stream);
    else
        assign_tasks(stream);
}

/* ---- orders ---- */

static void begin_task(struct exec_user *user, struct task what) {
    struct stream *stream = CONTAINER_OF(user, struct stream, user);
    struct stream_task *task = memory_new(sizeof *task);
    task->began = exec_pool_now(user->pool);
    call_queue_enter(exec_pool_desk(user->pool), &task->entry, what);
    list_push_back(&stream->waiting, &task->waiting);
    assign_tasks(stream);
}

static struct stream_worker *worker_of(struct stream *stream, const struct stream_task *task) {
    LIST_EACH(node, &stream->at_work) {
        struct stream_worker *worker = CONTAINER_OF(node, struct stream_worker, link);
        if (worker->task == task)
            return worker;
    }
    return NULL;
}

static void cancel_task(struct exec_user *user, struct call_queue_entry *entry) {
    struct stream *stream = CONTAINER_OF(user, struct stream, user);
    struct stream_task *task = CONTAINER_OF(entry, struct stream_task, entry);
    struct stream_worker *worker = worker_of(stream, task);
    struct outcome interrupted = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    if (worker)
        stream_worker_kill(worker, EXEC_STOP_CANCEL);
    else
        end_task(stream, task, &interrupted, NULL);
}

static void leave(struct exec_user *user) {
    struct stream *stream = CONTAINER_OF(user, struct stream, user);
    assert(list_empty(&stream->waiting));
    stream->leaving = true;
    while (!list_empty(&stream->idle))
        dismiss(stream, CONTAINER_OF(stream->idle.next, struct stream_worker, link));
    if (is_unused(stream))
        destroy(stream);
}

/* ---- creation ---- */

static const struct handler_vtable stream_vtable = {
    .kind = "stream",
    .start = exec_pool_start,
    .start_group = exec_pool_start_group,
    .cancel_group = exec_pool_cancel_group,
    .cancel = exec_pool_cancel,
    .free = exec_pool_leave,
};

struct handler *stream_new(struct exec_pool *pool, const struct stream_options *options) {
    assert(options->exec.argc > 0 && options->exec.timeout_ms > 0 && options->workers > 0);
    struct stream *stream = memory_new(sizeof *stream);
    stream->user = (struct exec_user){{&stream_vtable}, pool, begin_task, cancel_task, leave};
    stream->owner.pool = pool;
    stream->owner.answered = on_answered;
    stream->owner.gone = on_gone;
    stream->timeout_ms = options->exec.timeout_ms;
    stream->workers = options->workers;
    stream->max_messages = options->max_messages;
    stream->again.ring = on_again;
    list_init(&stream->waiting);
    list_init(&stream->idle);
    list_init(&stream->at_work);
    list_init(&stream->on_leave);
    arena_init_heap(&stream->arena, 1024);
    stream->owner.argv = exec_child_argv(&stream->arena, options->exec.argv, options->exec.argc);
    if (options->exec.cwd.len)
        stream->owner.cwd = arena_cstr(&stream->arena, options->exec.cwd);
    return &stream->user.handler;
}
