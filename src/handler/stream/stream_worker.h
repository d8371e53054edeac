/* stream_worker: one long-lived process that handles one hand-over after another, as JSON lines.
 *
 *   idle ⇄ busy (has a task) → dismissed (its stdin is closed; it may finish up) → gone
 *     └───────┴───────────────── ends, or is killed ──────────────────────────────↗
 *
 * Everything runs on the exec pool's thread. */
#ifndef HANDLER_STREAM_STREAM_WORKER_H
#define HANDLER_STREAM_STREAM_WORKER_H

#include "handler/exec/exec_pool.h"

enum {
    STREAM_WORKER_EXIT_MS = 3000, /* to end by itself after its stdin was closed; then SIGTERM … */
    STREAM_WORKER_TERM_MS = 2000, /* … and after this SIGKILL */
};

/* A hand-over, waiting or with a worker. */
struct stream_task {
    struct call_queue_entry entry;
    struct list waiting; /* while it waits for a worker */
    struct mono began;
};

struct stream_worker;

/* The owner of workers. */
struct stream_owner {
    struct exec_pool *pool;
    char *const *argv;
    const char *cwd; /* NULL: ours */
    /* The worker answered and has no task any more; it is idle unless it has ended or violated the
     * protocol. */
    void (*answered)(struct stream_worker *worker, struct stream_task *task, struct outcome *whole,
                     const struct outcome *items);
    /* Its process has ended; free it with stream_worker_free. */
    void (*gone)(struct stream_worker *worker);
};

struct stream_worker {
    struct list link; /* in a list of its owner */
    const struct stream_owner *owner;
    struct exec_run run;
    struct stream_task *task; /* the current one; NULL: none */
    struct buf line;          /* its last request … */
    struct buf answer;        /* … and the answer so far */
    uint64_t given;           /* number of tasks so far */
    const char *breach;       /* the protocol violation for which it was killed; or NULL */
    bool dismissed;
    bool told; /* dismissed, and sent SIGTERM */
    struct exec_timer timer;
};

/* NULL: *trouble is the errno because of which no process runs. */
struct stream_worker *stream_worker_new(const struct stream_owner *owner, int *trouble);
/* Gives a task to an idle worker; it times out after `timeout_ms`. */
void stream_worker_give(struct stream_worker *worker, struct stream_task *task, int64_t timeout_ms);
/* Closes the stdin of an idle worker; it gets no more tasks. */
void stream_worker_dismiss(struct stream_worker *worker);
void stream_worker_kill(struct stream_worker *worker, enum exec_stop why);
/* After its end: it read nothing of its current task. */
bool stream_worker_ignored_task(const struct stream_worker *worker);
void stream_worker_free(struct stream_worker *worker);

#endif
