#include "broker/common/ahead.h"

enum {
    AHEAD_PART = 4,      /* of the limit: half of the half that messages may use */
    AHEAD_MEMORY = 16,   /* messages after which an earlier size has little weight */
    AHEAD_BODY_MIN = 64, /* bytes: bodies are never taken for smaller */
};

void ahead_init(struct ahead *ahead, const struct broker_options *options) {
    ahead->memory = options->memory;
    atomic_init(&ahead->typical_bytes, options->max_body);
}

/* A body larger than the typical one raises the estimate at once. */
void ahead_note(struct ahead *ahead, struct message *held) {
    uint64_t bytes = held->body.len, typical = atomic_load(&ahead->typical_bytes);
    message_count_body(held, ahead->memory);
    atomic_store(&ahead->typical_bytes,
                 bytes >= typical ? bytes
                                  : typical - (typical - bytes + AHEAD_MEMORY - 1) / AHEAD_MEMORY);
}

size_t ahead_count(const struct ahead *ahead, size_t coming, size_t ready, size_t most) {
    uint64_t limit = body_memory_limit(ahead->memory) / AHEAD_PART;
    uint64_t used = body_memory_used(ahead->memory, BODY_MEMORY_MESSAGES);
    uint64_t typical = atomic_load(&ahead->typical_bytes);
    if (!ahead->memory)
        return most;
    uint64_t fit =
        used < limit ? (limit - used) / (typical > AHEAD_BODY_MIN ? typical : AHEAD_BODY_MIN) : 0;
    uint64_t more = fit > coming ? fit - coming : 0;
    if (more == 0 && coming + ready == 0)
        more = 1;
    return more < most ? (size_t)more : most;
}
