/* desk: where tasks are asked for, and found again by whoever cancels them.
 *
 * start and cancel come from any thread and must neither block nor touch a call that has ended, so
 * both only leave an order. One thread, the pool's, takes the orders in the order they came and
 * alone knows which tasks are under way. A cancel that comes too late finds nothing; one that was
 * posted before the same memory was started again is taken before that start, and cannot hit it. */
#ifndef HANDLER_DESK_H
#define HANDLER_DESK_H

#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/map.h"
#include "handler/task.h"

enum desk_wish {
    DESK_START,
    DESK_CANCEL,
    DESK_LEAVE, /* the handler itself is to go; no task of it is under way */
};

struct desk_order {
    struct mail mail; /* first: an order is its mail */
    enum desk_wish wish;
    struct handler *handler;
    struct task task; /* of a cancel: to compare only */
};

/* Embedded by whoever carries a task out. */
struct desk_entry {
    struct map_node node;
    struct task task;
};

struct desk {
    struct mailbox mailbox;
    struct map under_way;
    atomic_bool closing;
    void (*wake)(void *arg); /* wakes the pool's thread; any thread */
    void *arg;
};

void desk_init(struct desk *desk, void (*wake)(void *arg), void *arg);
void desk_free(struct desk *desk); /* no task is under way */

/* Any thread. */
void desk_ask(struct desk *desk, enum desk_wish wish, struct handler *handler, struct task task);
void desk_close(struct desk *desk);

/* The pool's thread. Each order is the taker's to free. */
struct desk_order *desk_take(struct desk *desk);
struct desk_order *desk_next(struct desk_order *order);
bool desk_closing(const struct desk *desk);
void desk_enter(struct desk *desk, struct desk_entry *entry, struct task task);
void desk_leave(struct desk *desk, struct desk_entry *entry);
struct desk_entry *desk_find(const struct desk *desk, struct task task); /* or NULL */

#endif
