/* stream_worker: one long-lived process that takes one task after another, as JSON lines.
 *
 *   idle ⇄ busy (has a task) → dismissed (its stdin is closed; it may finish up) → gone
 *     └───────┴───────────────── dies, or is killed ───────────────────────────────↗
 *
 * All of it happens on the exec pool's thread. */
#ifndef HANDLER_STREAM_WORKER_H
#define HANDLER_STREAM_WORKER_H

#include "handler/exec_pool.h"

enum {
    STREAM_WORKER_EXIT_MS = 3000, /* to end by itself once its stdin is closed; then SIGTERM … */
    STREAM_WORKER_TERM_MS = 2000, /* … and after this SIGKILL */
};

/* One hand-over on its way to a worker. */
struct stream_task {
    struct desk_entry entry;
    struct list waiting; /* until a worker has it */
    struct mono began;
};

struct stream_worker;

/* Whose worker it is. */
struct stream_owner {
    struct exec_pool *pool;
    char *const *argv;
    const char *cwd; /* NULL: ours */
    /* The worker answered and has no task any more; it is idle unless it ended or is in breach. */
    void (*answered)(struct stream_worker *worker, struct stream_task *task, struct outcome *whole,
                     const struct outcome *items);
    /* Its process is gone; free it with stream_worker_free. */
    void (*gone)(struct stream_worker *worker);
};

struct stream_worker {
    struct list link; /* its owner's */
    const struct stream_owner *owner;
    struct exec_run run;
    struct stream_task *task; /* in hand; NULL: none */
    struct buf line;          /* what it was given last … */
    struct buf answer;        /* … and what it has said to it so far */
    uint64_t given;           /* tasks */
    const char *breach;       /* what it did against the rules, for which it was killed; or NULL */
    bool dismissed;
    bool told; /* dismissed, and sent SIGTERM */
    struct exec_timer timer;
};

/* NULL: *trouble is the errno for which there is no process. */
struct stream_worker *stream_worker_new(const struct stream_owner *owner, int *trouble);
/* It is idle. The task is over after so long. */
void stream_worker_give(struct stream_worker *worker, struct stream_task *task, int64_t timeout_ms);
/* It is idle: no more tasks. */
void stream_worker_dismiss(struct stream_worker *worker);
void stream_worker_kill(struct stream_worker *worker, enum exec_stop why);
/* Once gone: it read nothing of the task in its hands. */
bool stream_worker_ignored_task(const struct stream_worker *worker);
void stream_worker_free(struct stream_worker *worker);

#endif
