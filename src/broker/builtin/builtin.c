#include "broker/builtin/builtin.h"

#include "base/containers/list.h"
#include "base/memory.h"

struct builtin {
    struct broker broker;
    struct store *store;
    uint32_t queue;
};

static struct builtin *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct builtin, broker);
}

static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    struct builtin *b = self(broker);
    return b->store->vtable->take(b->store, b->queue, TAKE_READY, now, out, max);
}

/* The store is the source: a message whose outcome is recorded there needs no acknowledgement. */
static void settle(struct broker *broker, struct message *held) {
    (void)broker;
    (void)held;
}

static void hand_back(struct broker *broker, struct message *held_take, struct instant now) {
    struct builtin *b = self(broker);
    b->store->vtable->give_back(b->store, held_take, now.mono);
}

static struct mono next_wake(struct broker *broker) {
    struct builtin *b = self(broker);
    return b->store->vtable->next_ready(b->store, b->queue, TAKE_READY);
}

/* A message whose delay has not passed is not lag. */
static uint64_t lag(struct broker *broker) {
    struct builtin *b = self(broker);
    struct store_queue_counts counts = {0};
    b->store->vtable->counts(b->store, b->queue, &counts);
    return counts.queued > counts.delayed ? counts.queued - counts.delayed : 0;
}

static void builtin_free(struct broker *broker) {
    free(self(broker));
}

static const struct broker_vtable builtin_vtable = {
    .kind = "builtin",
    .receive = receive,
    .settle = settle,
    .hand_back = hand_back,
    .next_wake = next_wake,
    .lag = lag,
    .free = builtin_free,
};

struct broker *builtin_new(struct store *store, uint32_t queue) {
    struct builtin *b = memory_new(sizeof *b);
    b->broker.vtable = &builtin_vtable;
    b->store = store;
    b->queue = queue;
    return &b->broker;
}
