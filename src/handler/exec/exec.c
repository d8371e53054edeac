/* exec: one process per message. A job's states:
 *
 *   waiting (the machine has no room for a process) ⇄ retried … → running → ended
 *           └──────────── timeout, or cancelled ────────────────────────↗
 *
 * After the last job's `done` was called, another thread may free the handler at any moment: it
 * must not be touched after that, unless another job waits. */
#include "handler/exec/exec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "handler/exec/exec_pool.h"

enum { EXEC_ROOM_RETRY_MS = 20 }; /* between two tries to start a process */

struct exec {
    struct exec_user user;
    char **argv;
    char *cwd; /* NULL: ours */
    int64_t timeout_ms;
    struct arena arena;      /* holds the texts above */
    struct list waiting;     /* jobs */
    struct exec_timer again; /* next try of the waiting jobs */
};

struct exec_job {
    struct call_queue_entry entry; /* its call */
    struct exec *exec;
    struct exec_run run;
    struct exec_timer deadline;
    struct list waiting;
    struct mono began;
    struct buf answer; /* its stdout, if the call wants the answer */
    int trouble;       /* errno of the last failed start; 0: it was started */
};

static void end_job(struct exec_job *job, struct outcome *outcome) {
    struct exec_pool *pool = job->exec->user.pool;
    outcome->duration_ms = exec_pool_now(pool).ms - job->began.ms;
    list_remove(&job->waiting);
    if (list_empty(&job->exec->waiting))
        exec_pool_clear_timer(pool, &job->exec->again);
    exec_pool_clear_timer(pool, &job->deadline);
    call_queue_leave(exec_pool_desk(pool), &job->entry);
    task_end(job->entry.task, outcome, NULL);
    exec_run_free(&job->run);
    buf_free(&job->answer);
    free(job);
}

/* Ends a job whose process was never started. */
static void end_unstarted(struct exec_job *job, enum exec_stop why) {
    assert(job->trouble != 0);
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct outcome outcome = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    if (why == EXEC_STOP_TIMEOUT)
        exec_report_no_room(job->exec->timeout_ms, job->trouble, &arena, &outcome);
    else if (why == EXEC_STOP_NONE)
        exec_report_unrunnable(job->exec->argv[0], job->trouble, &arena, &outcome);
    end_job(job, &outcome);
    arena_free(&arena);
}

static void stop_job(struct exec_job *job, enum exec_stop why) {
    if (job->trouble != 0)
        end_unstarted(job, why);
    else
        exec_run_stop(&job->run, why);
}

static void try_job(struct exec_job *job) {
    struct exec_pool *pool = job->exec->user.pool;
    struct call *call = job->entry.task.call;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct exec_child child = {
        .argv = job->exec->argv,
        .env = exec_env_for(exec_pool_env(pool), call, &arena),
        .cwd = job->exec->cwd,
    };
    job->trouble = exec_pool_run(pool, &job->run, &child, call->body);
    arena_free(&arena);
}

/* Starts the waiting jobs, oldest first; if one finds no room, the others wait behind it. */
static void try_waiting(struct exec *exec) {
    struct exec_pool *pool = exec->user.pool;
    exec_pool_clear_timer(pool, &exec->again);
    for (bool more = !list_empty(&exec->waiting); more;) {
        struct exec_job *job = CONTAINER_OF(exec->waiting.next, struct exec_job, waiting);
        try_job(job);
        if (exec_pool_may_pass(job->trouble)) {
            exec_pool_set_timer(pool, &exec->again,
                                mono_after(exec_pool_now(pool), EXEC_ROOM_RETRY_MS));
            return;
        }
        list_remove(&job->waiting);
        more = !list_empty(&exec->waiting);
        if (job->trouble != 0)
            end_unstarted(job, EXEC_STOP_NONE);
    }
}

/* ---- on the pool's thread ---- */

/* Output beyond the limit is dropped, so that the child does not block on its pipe. */
static void on_heard(struct exec_run *run, struct bytes text) {
    struct buf *answer = &CONTAINER_OF(run, struct exec_job, run)->answer;
    buf_bytes(answer, bytes_cut(text, 0, answer->max - answer->len));
}

/* The job's process was reaped; there may be room for the next. */
static void on_over(struct exec_run *run) {
    struct exec_job *job = CONTAINER_OF(run, struct exec_job, run);
    struct exec *exec = job->exec;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    run->end.timeout_ms = exec->timeout_ms;
    struct outcome outcome;
    exec_report_end(&run->end, tail_text(&run->said, &arena), &arena, &outcome);
    if (outcome.ending == ENDING_OK && run->heard)
        exec_report_answer(buf_view(&job->answer), &outcome);
    bool more = !list_empty(&exec->waiting);
    end_job(job, &outcome);
    arena_free(&arena);
    if (more)
        try_waiting(exec);
}

static void on_overdue(struct exec_timer *timer) {
    stop_job(CONTAINER_OF(timer, struct exec_job, deadline), EXEC_STOP_TIMEOUT);
}

static void on_again(struct exec_timer *timer) {
    try_waiting(CONTAINER_OF(timer, struct exec, again));
}

static void begin_job(struct exec_user *user, struct task task) {
    struct exec *exec = CONTAINER_OF(user, struct exec, user);
    struct exec_job *job = memory_new(sizeof *job);
    job->exec = exec;
    job->run.over = on_over;
    job->run.heard = task.call->wants_answer ? on_heard : NULL;
    buf_init_heap(&job->answer, OUTCOME_ANSWER_MAX + 1);
    job->deadline.ring = on_overdue;
    job->began = exec_pool_now(user->pool);
    job->trouble = EAGAIN;
    exec_pool_set_timer(user->pool, &job->deadline, mono_after(job->began, exec->timeout_ms));
    call_queue_enter(exec_pool_desk(user->pool), &job->entry, task);
    bool first = list_empty(&exec->waiting);
    list_push_back(&exec->waiting, &job->waiting);
    if (first)
        try_waiting(exec);
}

static void cancel_job(struct exec_user *user, struct call_queue_entry *entry) {
    (void)user;
    stop_job(CONTAINER_OF(entry, struct exec_job, entry), EXEC_STOP_CANCEL);
}

/* ---- creation ---- */

static void exec_free(struct handler *handler) {
    struct exec *exec = CONTAINER_OF(handler, struct exec, user.handler);
    assert(list_empty(&exec->waiting));
    arena_free(&exec->arena);
    free(exec);
}

static const struct handler_vtable exec_vtable = {
    .kind = "exec",
    .start = exec_pool_start,
    .cancel = exec_pool_cancel,
    .free = exec_free,
};

struct handler *exec_new(struct exec_pool *pool, const struct exec_options *options) {
    assert(options->argc > 0 && options->timeout_ms > 0);
    struct exec *exec = memory_new(sizeof *exec);
    exec->user = (struct exec_user){{&exec_vtable}, pool, begin_job, cancel_job, NULL};
    exec->timeout_ms = options->timeout_ms;
    exec->again.ring = on_again;
    list_init(&exec->waiting);
    arena_init_heap(&exec->arena, 1024);
    exec->cwd = options->cwd.len ? arena_cstr(&exec->arena, options->cwd) : NULL;
    exec->argv = exec_child_argv(&exec->arena, options->argv, options->argc);
    return &exec->user.handler;
}
