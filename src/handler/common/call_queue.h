/* call_queue: the queue through which calls are started and cancelled (call_queue).
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

enum call_queue_wish {
    CALL_QUEUE_START,
    CALL_QUEUE_CANCEL,
    CALL_QUEUE_LEAVE, /* the handler is being freed; none of its calls is in flight */
};

struct call_queue_order {
    struct mail mail; /* first member: an order is its mail */
    enum call_queue_wish wish;
    struct handler *handler;
    struct task task; /* for a cancel: only compared, never dereferenced */
};

/* Embedded in the record of a call in flight. */
struct call_queue_entry {
    struct map_node node;
    struct task task;
};

struct call_queue {
    struct mailbox mailbox;
    struct map under_way;
    atomic_bool closing;
    void (*wake)(void *arg); /* wakes the pool's thread; any thread */
    void *arg;
};

void call_queue_init(struct call_queue *calls, void (*wake)(void *arg), void *arg);
void call_queue_free(struct call_queue *calls); /* no call may be in flight */

/* Any thread. */
void call_queue_ask(struct call_queue *calls, enum call_queue_wish wish, struct handler *handler,
                    struct task task);
void call_queue_close(struct call_queue *calls);

/* The pool's thread. The taker frees each order. */
struct call_queue_order *call_queue_take(struct call_queue *calls);
struct call_queue_order *call_queue_next(struct call_queue_order *order);
bool call_queue_closing(const struct call_queue *calls);
void call_queue_enter(struct call_queue *calls, struct call_queue_entry *entry, struct task task);
void call_queue_leave(struct call_queue *calls, struct call_queue_entry *entry);
struct call_queue_entry *call_queue_find(const struct call_queue *calls,
                                         struct task task); /* or NULL */

#endif
