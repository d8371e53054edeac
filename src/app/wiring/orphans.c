#include "app/wiring/orphans.h"

#include <inttypes.h>

#include "base/log.h"

enum { CHUNK = 4096, AT_ONCE = 64 };

typedef void visit_fn(struct store *store, uint32_t number, struct bytes name, void *arg);

static void each(struct store *store, const struct config *config, visit_fn *visit, void *arg) {
    struct arena arena;
    struct bytes *names;
    arena_init_heap(&arena, CHUNK);
    size_t count = store->vtable->queue_names(store, &arena, &names);
    for (size_t i = 0; i < count; i++)
        if (names[i].len > 0 && !config_find_queue(config, names[i]))
            visit(store, (uint32_t)i + 1, names[i], arg);
    arena_free(&arena);
}

/* A message that is given back waits and is no longer leased. */
static void release(struct store *store, uint32_t number, struct bytes name, void *arg) {
    const struct instant *now = arg;
    struct message *held[AT_ONCE];
    size_t got;
    (void)name;
    while ((got = store->vtable->take(store, number, TAKE_LEASED, *now, held, AT_ONCE)) > 0)
        for (size_t i = 0; i < got; i++)
            store->vtable->give_back(store, held[i], now->mono);
}

void orphans_release(struct store *store, const struct config *config, struct instant now) {
    each(store, config, release, &now);
}

static void tell(struct store *store, uint32_t number, struct bytes name, void *arg) {
    struct store_queue_counts counts;
    (void)arg;
    store->vtable->counts(store, number, &counts);
    uint64_t held = counts.queued + counts.pending_retry;
    if (held > 0)
        log_warn("queue %.*s is not in the configuration; messages that wait in it: %" PRIu64
                 ". They go on when it is there again, or as another queue: impound queues rename",
                 BYTES_ARG(name), held);
}

void orphans_tell(struct store *store, const struct config *config) {
    each(store, config, tell, NULL);
}
