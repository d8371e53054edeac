/* desk: the queue through which calls are started and cancelled (call_queue).
 *
 * start and cancel may be called on any thread, must not block, and must not touch a call that has
 * ended; so both only post an order. One thread, the pool's, takes the orders in sequence and alone
 * knows which calls are in flight. A cancel that comes too late finds nothing. A cancel posted
 * before the same memory was used for another call is taken before that start, so it cannot hit the
 * wrong call. */
#ifndef HANDLER_COMMON_CALL_QUEUE_H
#define HANDLER_COMMON_CALL_QUEUE_H

#include <stdatomic.h>

#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "handler/common/task.h"

enum desk_wish {
    DESK_START,
    DESK_CANCEL,
    DESK_LEAVE, /* the handler is being freed; none of its calls is in flight */
};

struct desk_order {
    struct mail mail; /* first member: an order is its mail */
    enum desk_wish wish;
    struct handler *handler;
    struct task task; /* for a cancel: only compared, never dereferenced */
};

/* Embedded in the record of a call in flight. */
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
void desk_free(struct desk *desk); /* no call may be in flight */

/* Any thread. */
void desk_ask(struct desk *desk, enum desk_wish wish, struct handler *handler, struct task task);
void desk_close(struct desk *desk);

/* The pool's thread. The taker frees each order. */
struct desk_order *desk_take(struct desk *desk);
struct desk_order *desk_next(struct desk_order *order);
bool desk_closing(const struct desk *desk);
void desk_enter(struct desk *desk, struct desk_entry *entry, struct task task);
void desk_leave(struct desk *desk, struct desk_entry *entry);
struct desk_entry *desk_find(const struct desk *desk, struct task task); /* or NULL */

#endif
