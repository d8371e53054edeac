/* call_queue: the queue of calls to a pool (call_queue). See the header. */
#include "handler/common/call_queue.h"

#include <assert.h>

#include "base/containers/list.h"
#include "base/memory.h"

void call_queue_init(struct call_queue *calls, void (*wake)(void *arg), void *arg) {
    *calls = (struct call_queue){.wake = wake, .arg = arg};
    mailbox_init(&calls->mailbox);
}

void call_queue_free(struct call_queue *calls) {
    assert(calls->under_way.count == 0);
    map_free(&calls->under_way);
    mailbox_free(&calls->mailbox);
}

void call_queue_ask(struct call_queue *calls, enum call_queue_wish wish, struct handler *handler,
                    struct task task) {
    assert(handler);
    struct call_queue_order *order = memory_new(sizeof *order);
    order->wish = wish;
    order->handler = handler;
    order->task = task;
    mailbox_post(&calls->mailbox, &order->mail);
    calls->wake(calls->arg);
}

void call_queue_close(struct call_queue *calls) {
    atomic_store(&calls->closing, true);
    calls->wake(calls->arg);
}

static struct call_queue_order *order_of(struct mail *mail) {
    return mail ? CONTAINER_OF(mail, struct call_queue_order, mail) : NULL;
}

struct call_queue_order *call_queue_take(struct call_queue *calls) {
    return order_of(mailbox_take(&calls->mailbox));
}

struct call_queue_order *call_queue_next(struct call_queue_order *order) {
    return order_of(order->mail.next);
}

bool call_queue_closing(const struct call_queue *calls) {
    return atomic_load(&calls->closing);
}

static uint64_t hash_of(struct task task) {
    const void *identity = task_identity(task);
    return bytes_hash((struct bytes){(const char *)&identity, sizeof identity});
}

void call_queue_enter(struct call_queue *calls, struct call_queue_entry *entry, struct task task) {
    assert(!call_queue_find(calls, task));
    entry->task = task;
    map_insert(&calls->under_way, &entry->node, hash_of(task));
}

void call_queue_leave(struct call_queue *calls, struct call_queue_entry *entry) {
    assert(call_queue_find(calls, entry->task) == entry);
    map_remove(&calls->under_way, &entry->node);
}

struct call_queue_entry *call_queue_find(const struct call_queue *calls, struct task task) {
    struct map_node *node = map_first(&calls->under_way, hash_of(task));
    for (; node; node = map_next(node)) {
        struct call_queue_entry *entry = CONTAINER_OF(node, struct call_queue_entry, node);
        if (task_identity(entry->task) == task_identity(task))
            return entry;
    }
    return NULL;
}
