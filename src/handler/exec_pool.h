/* exec_pool: the one thread that all handlers of processes share: it starts, feeds, watches and
 * reaps.
 *
 * Other threads reach it through the desk alone; what is below "the pool's thread" is for code that
 * runs on it. The thread lives as long as the pool because its children die with it. */
#ifndef HANDLER_EXEC_POOL_H
#define HANDLER_EXEC_POOL_H

#include "base/heap.h"
#include "handler/desk.h"
#include "handler/exec.h"
#include "handler/exec_env.h"
#include "handler/exec_run.h"

/* A handler of processes. Its operations are called on the pool's thread. */
struct exec_user {
    struct handler handler;
    struct exec_pool *pool;
    void (*begin)(struct exec_user *user, struct task task);
    void (*cancel)(struct exec_user *user, struct desk_entry *entry);
    void (*leave)(struct exec_user *user); /* see exec_pool_leave; NULL: it never is asked to */
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
/* Has user->leave called; exec_pool_free waits until exec_pool_left. */
void exec_pool_leave(struct handler *handler);

/* ---- the pool's thread ---- */
struct mono exec_pool_now(struct exec_pool *pool);
struct desk *exec_pool_desk(struct exec_pool *pool);
const struct exec_env *exec_pool_env(const struct exec_pool *pool);
/* exec_run_begin on the pool's epoll; run->over is called once all events of the turn were seen,
 * because several of them may belong to one run. A child that nobody hears writes to nowhere. */
int exec_pool_run(struct exec_pool *pool, struct exec_run *run, struct exec_child *child,
                  struct bytes text);
/* Replaces the time that was set before. */
void exec_pool_set_timer(struct exec_pool *pool, struct exec_timer *timer, struct mono at);
void exec_pool_clear_timer(struct exec_pool *pool, struct exec_timer *timer);
/* The user's memory may be freed after this; nothing of it is known to the pool any more. */
void exec_pool_left(struct exec_pool *pool);
/* Trouble of the machine at starting a process, which passes; any other is the program's. */
bool exec_pool_may_pass(int trouble);

#endif
