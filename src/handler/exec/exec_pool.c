/* exec_pool: see the header. Several events of one epoll_wait may belong to one run, so an ended
 * run is only listed, and its owner is called after all events were handled. */
#include "handler/exec/exec_pool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread/thread.h"

enum {
    EXEC_EVENTS_MAX = 256, /* handled at a time */
    EXEC_SLEEP_MAX_MS = 3600 * 1000,
};

struct exec_pool {
    struct clock *clock;
    struct call_queue calls;
    struct exec_env env;
    pthread_t thread;
    int epoll;
    int wakeup; /* eventfd */
    int null;   /* /dev/null, for output that is not read */
    struct heap timers;
    uint64_t timers_set;   /* breaks ties */
    struct list ended;     /* runs */
    atomic_size_t leaving; /* handlers being freed that are not gone yet */
};

/* ---- services for handlers ---- */

struct mono exec_pool_now(struct exec_pool *pool) {
    return clock_now(pool->clock).mono;
}

struct call_queue *exec_pool_desk(struct exec_pool *pool) {
    return &pool->calls;
}

const struct exec_env *exec_pool_env(const struct exec_pool *pool) {
    return &pool->env;
}

int exec_pool_run(struct exec_pool *pool, struct exec_run *run, struct exec_child *child,
                  struct bytes text) {
    child->out = pool->null;
    return exec_run_begin(run, pool->epoll, child, text);
}

void exec_pool_set_timer(struct exec_pool *pool, struct exec_timer *timer, struct mono at) {
    assert(timer->ring);
    heap_remove(&pool->timers, &timer->node);
    timer->node.at = at.ms;
    timer->node.tie = pool->timers_set++;
    heap_insert(&pool->timers, &timer->node);
}

void exec_pool_clear_timer(struct exec_pool *pool, struct exec_timer *timer) {
    heap_remove(&pool->timers, &timer->node);
}

void exec_pool_left(struct exec_pool *pool) {
    assert(atomic_load(&pool->leaving) > 0);
    atomic_fetch_sub(&pool->leaving, 1);
}

bool exec_pool_may_pass(int trouble) {
    return trouble == EAGAIN || trouble == ENOMEM || trouble == EMFILE || trouble == ENFILE ||
           trouble == ETXTBSY;
}

/* ---- the pool's thread ---- */

static void handle_order(struct exec_pool *pool, const struct call_queue_order *order) {
    struct exec_user *user = CONTAINER_OF(order->handler, struct exec_user, handler);
    if (order->wish == CALL_QUEUE_START) {
        user->begin(user, order->task);
    } else if (order->wish == CALL_QUEUE_LEAVE) {
        user->leave(user);
    } else {
        struct call_queue_entry *entry = call_queue_find(&pool->calls, order->task);
        if (entry)
            user->cancel(user, entry);
    }
}

static void take_orders(struct exec_pool *pool) {
    for (struct call_queue_order *order = call_queue_take(&pool->calls), *next; order;
         order = next) {
        next = call_queue_next(order);
        handle_order(pool, order);
        free(order);
    }
}

static void ring_timers(struct exec_pool *pool) {
    struct mono now = exec_pool_now(pool);
    struct heap_node *first;
    while ((first = heap_first(&pool->timers)) && first->at <= now.ms) {
        struct exec_timer *timer = CONTAINER_OF(first, struct exec_timer, node);
        heap_remove(&pool->timers, first);
        timer->ring(timer);
    }
}

static int sleep_ms(struct exec_pool *pool) {
    struct heap_node *first = heap_first(&pool->timers);
    if (!first)
        return EXEC_SLEEP_MAX_MS;
    int64_t left = first->at - exec_pool_now(pool).ms;
    if (left <= 0)
        return 0;
    return left < EXEC_SLEEP_MAX_MS ? (int)left : EXEC_SLEEP_MAX_MS;
}

static void clear_wakeup(struct exec_pool *pool) {
    eventfd_t rung;
    eventfd_read(pool->wakeup, &rung);
}

static void handle_event(struct exec_pool *pool, struct exec_watch *watch) {
    if (!watch) {
        clear_wakeup(pool);
        return;
    }
    struct exec_run *run = watch->run;
    bool ended_before = run->ended;
    exec_run_ready(watch);
    if (run->ended && !ended_before)
        list_push_back(&pool->ended, &run->ending);
}

static void wait_for_events(struct exec_pool *pool) {
    struct epoll_event events[EXEC_EVENTS_MAX];
    int count = epoll_wait(pool->epoll, events, EXEC_EVENTS_MAX, sleep_ms(pool));
    for (int i = 0; i < count; i++)
        handle_event(pool, events[i].data.ptr);
    for (struct list *node; (node = list_pop_front(&pool->ended));) {
        struct exec_run *run = CONTAINER_OF(node, struct exec_run, ending);
        run->over(run);
    }
}

static void *run_pool(void *arg) {
    struct exec_pool *pool = arg;
    while (!call_queue_closing(&pool->calls) || atomic_load(&pool->leaving) > 0) {
        take_orders(pool);
        ring_timers(pool);
        if (!call_queue_closing(&pool->calls) || atomic_load(&pool->leaving) > 0)
            wait_for_events(pool);
    }
    take_orders(pool); /* cancels that came too late */
    return NULL;
}

/* ---- creation, and calls from any thread ---- */

static void wake(void *arg) {
    struct exec_pool *pool = arg;
    eventfd_write(pool->wakeup, 1);
}

/* If our parent left SIGCHLD ignored, the kernel would reap our children itself, and their exit
 * status would be lost. */
static void stop_ignoring_children(void) {
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    if (now.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

struct exec_pool *exec_pool_new(struct clock *clock) {
    struct exec_pool *pool = memory_new(sizeof *pool);
    pool->clock = clock;
    pool->epoll = epoll_create1(EPOLL_CLOEXEC);
    pool->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pool->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert(pool->epoll >= 0 && pool->wakeup >= 0 && pool->null >= 0);
    struct epoll_event wakeup = {.events = EPOLLIN, .data.ptr = NULL};
    int watched = epoll_ctl(pool->epoll, EPOLL_CTL_ADD, pool->wakeup, &wakeup);
    assert(watched == 0);
    list_init(&pool->ended);
    stop_ignoring_children();
    exec_env_init(&pool->env);
    call_queue_init(&pool->calls, wake, pool);
    thread_start(&pool->thread, "exec-pool", run_pool, pool);
    return pool;
}

void exec_pool_free(struct exec_pool *pool) {
    if (!pool)
        return;
    call_queue_close(&pool->calls);
    pthread_join(pool->thread, NULL);
    call_queue_free(&pool->calls);
    exec_env_free(&pool->env);
    heap_free(&pool->timers);
    close(pool->null);
    close(pool->wakeup);
    close(pool->epoll);
    free(pool);
}

static void ask(struct handler *handler, enum call_queue_wish wish, struct task task) {
    struct exec_user *user = CONTAINER_OF(handler, struct exec_user, handler);
    call_queue_ask(&user->pool->calls, wish, handler, task);
}

void exec_pool_start(struct handler *handler, struct call *call) {
    ask(handler, CALL_QUEUE_START, (struct task){.call = call});
}

void exec_pool_cancel(struct handler *handler, struct call *call) {
    ask(handler, CALL_QUEUE_CANCEL, (struct task){.call = call});
}

void exec_pool_start_group(struct handler *handler, struct call_group *group) {
    ask(handler, CALL_QUEUE_START, (struct task){.group = group});
}

void exec_pool_cancel_group(struct handler *handler, struct call_group *group) {
    ask(handler, CALL_QUEUE_CANCEL, (struct task){.group = group});
}

void exec_pool_leave(struct handler *handler) {
    atomic_fetch_add(&CONTAINER_OF(handler, struct exec_user, handler)->pool->leaving, 1);
    ask(handler, CALL_QUEUE_LEAVE, (struct task){0});
}
