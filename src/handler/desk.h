/* desk: where calls are asked for, and found again by whoever cancels them.
 *
 * start and cancel come from any thread and must neither block nor touch a call that has ended, so
 * both only leave an order. One thread, the pool's, takes the orders in the order they came and
 * alone knows which calls are under way. A cancel that comes too late finds nothing; one that was
 * posted before the same memory was started again is taken before that start, and cannot hit it. */
#ifndef HANDLER_DESK_H
#define HANDLER_DESK_H

#include <stdatomic.h>

#include "base/mailbox.h"
#include "base/map.h"
#include "port/handler.h"

enum desk_wish { DESK_START, DESK_CANCEL };

struct desk_order {
    struct mail mail; /* first: an order is its mail */
    enum desk_wish wish;
    struct handler *handler;
    struct call *call; /* of a cancel: to compare only */
};

/* Embedded by whoever carries a call out. */
struct desk_entry {
    struct map_node node;
    struct call *call;
};

struct desk {
    struct mailbox mailbox;
    struct map under_way;
    atomic_bool closing;
    void (*wake)(void *arg); /* wakes the pool's thread; any thread */
    void *arg;
};

void desk_init(struct desk *desk, void (*wake)(void *arg), void *arg);
void desk_free(struct desk *desk); /* no call is under way */

/* Any thread. */
void desk_start(struct desk *desk, struct handler *handler, struct call *call);
void desk_cancel(struct desk *desk, struct handler *handler, struct call *call);
void desk_close(struct desk *desk);

/* The pool's thread. Each order is the taker's to free. */
struct desk_order *desk_take(struct desk *desk);
struct desk_order *desk_next(struct desk_order *order);
bool desk_closing(const struct desk *desk);
void desk_enter(struct desk *desk, struct desk_entry *entry, struct call *call);
void desk_leave(struct desk *desk, struct desk_entry *entry);
struct desk_entry *desk_find(const struct desk *desk, const struct call *call); /* or NULL */

#endif
