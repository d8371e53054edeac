/* exec_pool: the one thread that all process handlers share: it starts, feeds, watches and reaps
 * the processes.
 *
 * Other threads reach it through the call queue (call_queue.h) alone; functions below "the pool's
 * thread" may only be called on it. The thread lives as long as the pool, because its children are
 * killed when it ends. */
#ifndef HANDLER_EXEC_EXEC_POOL_H
#define HANDLER_EXEC_EXEC_POOL_H

#include "base/containers/heap.h"
#include "handler/common/call_queue.h"
#include "handler/exec/exec.h"
#include "handler/exec/exec_env.h"
#include "handler/exec/exec_run.h"

/* A process handler. Its operations are called on the pool's thread. */
struct exec_user {
    struct handler handler;
    struct exec_pool *pool;
    void (*begin)(struct exec_user *user, struct task task);
    void (*cancel)(struct exec_user *user, struct call_queue_entry *entry);
    void (*leave)(struct exec_user *user); /* see exec_pool_leave; may be NULL */
};

/* A zeroed timer is off. */
struct exec_timer {
    struct heap_node node;
    void (*ring)(struct exec_timer *timer);
};

/* ---- any thread: the operations of every such handler's vtable ---- */
void exec_pool_start(struct handler *handler, struct call *call);
void exec_pool_cancel(struct handler *handler, struct call *call);
void exec_pool_start_group(struct handler *handler, struct call_group *group);
void exec_pool_cancel_group(struct handler *handler, struct call_group *group);
/* Lets the pool call user->leave; exec_pool_free waits for exec_pool_left. */
void exec_pool_leave(struct handler *handler);

/* ---- the pool's thread ---- */
struct mono exec_pool_now(struct exec_pool *pool);
struct call_queue *exec_pool_desk(struct exec_pool *pool);
const struct exec_env *exec_pool_env(const struct exec_pool *pool);
/* exec_run_begin on the pool's epoll; run->over is called after all events of the turn were
 * handled, because several may belong to one run. A child without `heard` writes its stdout to
 * /dev/null. */
int exec_pool_run(struct exec_pool *pool, struct exec_run *run, struct exec_child *child,
                  struct bytes text);
/* Replaces an earlier time. */
void exec_pool_set_timer(struct exec_pool *pool, struct exec_timer *timer, struct mono at);
void exec_pool_clear_timer(struct exec_pool *pool, struct exec_timer *timer);
/* The pool no longer refers to the handler, whose memory may be freed. */
void exec_pool_left(struct exec_pool *pool);
/* Whether the errno of a failed start is a temporary lack of resources; otherwise the program is at
 * fault. */
bool exec_pool_may_pass(int trouble);

#endif
