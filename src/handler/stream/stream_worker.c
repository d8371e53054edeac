/* stream_worker: see the picture in the header. A worker that violates the protocol (`breach`) is
 * killed, and its hand-over fails with the violation. */
#include "handler/stream/stream_worker.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "handler/common/item.h"
#include "handler/stream/stream_line.h"

static struct stream_worker *of_run(struct exec_run *run) {
    return CONTAINER_OF(run, struct stream_worker, run);
}

/* ---- its output ---- */

static const char unasked[] = "it wrote output without having been given a message";

/* Kills the worker. An idle worker leaves its list, so that it gets no task while it ends. */
static void breach(struct stream_worker *worker, const char *what) {
    if (!worker->task)
        list_remove(&worker->link);
    log_warn("stream worker %s (pid %ld): %s; killing it", worker->owner->argv[0],
             (long)worker->run.pid, what);
    worker->breach = what;
    exec_run_stop(&worker->run, EXEC_STOP_CANCEL);
}

static void take_answer(struct stream_worker *worker, bool goes_on) {
    assert(worker->task);
    struct stream_task *task = worker->task;
    struct arena arena;
    struct outcome whole;
    arena_init_heap(&arena, 1024);
    struct outcome *items = arena_alloc(&arena, task_count(task->entry.task) * sizeof *items);
    const char *wrong = stream_line_read(buf_view(&worker->answer), task->entry.task, worker->given,
                                         &arena, &whole, items);
    if (wrong) {
        breach(worker, wrong);
    } else {
        worker->task = NULL;
        if (goes_on)
            breach(worker, unasked);
        exec_pool_clear_timer(worker->owner->pool, &worker->timer);
        worker->owner->answered(worker, task, &whole, whole.ending == ENDING_OK ? items : NULL);
    }
    arena_free(&arena);
}

/* Text after the end of the line was written before the next request. */
static void hear(struct exec_run *run, struct bytes text) {
    struct stream_worker *worker = of_run(run);
    if (worker->dismissed || worker->breach || run->end.stop != EXEC_STOP_NONE)
        return;
    const char *end = memchr(text.ptr, '\n', text.len);
    size_t len = end ? (size_t)(end - text.ptr) : text.len;
    buf_put(&worker->answer, text.ptr, len);
    if (!worker->task)
        breach(worker, unasked);
    else if (worker->answer.overflow)
        breach(worker, "the line of its answer is too long");
    else if (end)
        take_answer(worker, len + 1 < text.len);
}

/* ---- its end ---- */

static void on_over(struct exec_run *run) {
    struct stream_worker *worker = of_run(run);
    exec_pool_clear_timer(worker->owner->pool, &worker->timer);
    worker->owner->gone(worker);
}

static void wait_for_exit(struct stream_worker *worker, int64_t ms) {
    struct exec_pool *pool = worker->owner->pool;
    exec_pool_set_timer(pool, &worker->timer, mono_after(exec_pool_now(pool), ms));
}

/* An answer that is in the pipe by now was in time: we may be late ourselves. */
static void on_overdue(struct stream_worker *worker) {
    uint64_t given = worker->given;
    exec_run_hear(&worker->run);
    if (worker->task && worker->given == given)
        exec_run_stop(&worker->run, EXEC_STOP_TIMEOUT);
}

static void on_timer(struct exec_timer *timer) {
    struct stream_worker *worker = CONTAINER_OF(timer, struct stream_worker, timer);
    if (!worker->dismissed) {
        on_overdue(worker);
    } else if (!worker->told) {
        worker->told = true;
        kill(-worker->run.pid, SIGTERM);
        wait_for_exit(worker, STREAM_WORKER_TERM_MS);
    } else {
        exec_run_stop(&worker->run, EXEC_STOP_CANCEL);
    }
}

void stream_worker_dismiss(struct stream_worker *worker) {
    assert(!worker->task && !worker->dismissed);
    worker->dismissed = true;
    exec_run_hush(&worker->run);
    wait_for_exit(worker, STREAM_WORKER_EXIT_MS);
}

void stream_worker_kill(struct stream_worker *worker, enum exec_stop why) {
    exec_run_stop(&worker->run, why);
}

bool stream_worker_ignored_task(const struct stream_worker *worker) {
    return worker->run.unread >= worker->line.len;
}

/* ---- its hand-overs ---- */

struct stream_worker *stream_worker_new(const struct stream_owner *owner, int *trouble) {
    struct stream_worker *worker = memory_new(sizeof *worker);
    worker->owner = owner;
    worker->timer.ring = on_timer;
    worker->run.over = on_over;
    worker->run.heard = hear;
    worker->run.lasting = true;
    list_init(&worker->link);
    buf_init_heap(&worker->line, ITEM_TEXT_MAX);
    buf_init_heap(&worker->answer, STREAM_ANSWER_MAX);
    struct exec_child child = {
        .argv = owner->argv,
        .env = exec_pool_env(owner->pool)->inherited,
        .cwd = owner->cwd,
    };
    *trouble = exec_pool_run(owner->pool, &worker->run, &child, BYTES_NONE);
    if (*trouble == 0)
        return worker;
    stream_worker_free(worker);
    return NULL;
}

void stream_worker_give(struct stream_worker *worker, struct stream_task *task,
                        int64_t timeout_ms) {
    assert(!worker->task && !worker->dismissed && !worker->breach);
    struct exec_pool *pool = worker->owner->pool;
    worker->task = task;
    worker->given++;
    buf_clear(&worker->line);
    buf_clear(&worker->answer);
    tail_clear(&worker->run.said);
    stream_line_put(task->entry.task, worker->given, &worker->line);
    task->began = exec_pool_now(pool);
    exec_pool_set_timer(pool, &worker->timer, mono_after(task->began, timeout_ms));
    if (worker->line.overflow)
        breach(worker, "the message is too long for a line");
    else
        exec_run_feed(&worker->run, buf_view(&worker->line));
}

void stream_worker_free(struct stream_worker *worker) {
    list_remove(&worker->link);
    exec_run_free(&worker->run);
    buf_free(&worker->line);
    buf_free(&worker->answer);
    free(worker);
}
