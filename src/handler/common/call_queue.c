/* desk: the queue of calls to a pool (call_queue). See the header. */
#include "handler/common/call_queue.h"

#include <assert.h>

#include "base/containers/list.h"
#include "base/memory.h"

void desk_init(struct desk *desk, void (*wake)(void *arg), void *arg) {
    *desk = (struct desk){.wake = wake, .arg = arg};
    mailbox_init(&desk->mailbox);
}

void desk_free(struct desk *desk) {
    assert(desk->under_way.count == 0);
    map_free(&desk->under_way);
    mailbox_free(&desk->mailbox);
}

void desk_ask(struct desk *desk, enum desk_wish wish, struct handler *handler, struct task task) {
    assert(handler);
    struct desk_order *order = memory_new(sizeof *order);
    order->wish = wish;
    order->handler = handler;
    order->task = task;
    mailbox_post(&desk->mailbox, &order->mail);
    desk->wake(desk->arg);
}

void desk_close(struct desk *desk) {
    atomic_store(&desk->closing, true);
    desk->wake(desk->arg);
}

static struct desk_order *order_of(struct mail *mail) {
    return mail ? CONTAINER_OF(mail, struct desk_order, mail) : NULL;
}

struct desk_order *desk_take(struct desk *desk) {
    return order_of(mailbox_take(&desk->mailbox));
}

struct desk_order *desk_next(struct desk_order *order) {
    return order_of(order->mail.next);
}

bool desk_closing(const struct desk *desk) {
    return atomic_load(&desk->closing);
}

static uint64_t hash_of(struct task task) {
    const void *identity = task_identity(task);
    return bytes_hash((struct bytes){(const char *)&identity, sizeof identity});
}

void desk_enter(struct desk *desk, struct desk_entry *entry, struct task task) {
    assert(!desk_find(desk, task));
    entry->task = task;
    map_insert(&desk->under_way, &entry->node, hash_of(task));
}

void desk_leave(struct desk *desk, struct desk_entry *entry) {
    assert(desk_find(desk, entry->task) == entry);
    map_remove(&desk->under_way, &entry->node);
}

struct desk_entry *desk_find(const struct desk *desk, struct task task) {
    struct map_node *node = map_first(&desk->under_way, hash_of(task));
    for (; node; node = map_next(node)) {
        struct desk_entry *entry = CONTAINER_OF(node, struct desk_entry, node);
        if (task_identity(entry->task) == task_identity(task))
            return entry;
    }
    return NULL;
}
