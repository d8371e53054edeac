#include "app/orphans.h"

#include <inttypes.h>

#include "app/config_find.h"
#include "base/log.h"

enum { CHUNK = 4096 };

static void tell(struct store *store, uint32_t number, struct bytes name) {
    struct store_queue_counts counts;
    store->vtable->counts(store, number, &counts);
    uint64_t held = counts.queued + counts.pending_retry;
    if (held > 0)
        log_warn("queue %.*s is not in the configuration; messages that wait in it: %" PRIu64
                 ". They go on when it is there again, or as another queue: impound queues rename",
                 BYTES_ARG(name), held);
}

void orphans_tell(struct store *store, const struct config *config) {
    struct arena arena;
    struct bytes *names;
    arena_init_heap(&arena, CHUNK);
    size_t count = store->vtable->queue_names(store, &arena, &names);
    for (size_t i = 0; i < count; i++)
        if (names[i].len > 0 && !config_find_queue(config, names[i]))
            tell(store, (uint32_t)i + 1, names[i]);
    arena_free(&arena);
}
