#include "engine/cap.h"

#include "base/log.h"

enum { WHOLE_CAP = 1000, REOPEN_BELOW = 950 }; /* permille of the cap */

static uint64_t depth_of(const struct queue *queue, const struct engine_dlq *dlq) {
    struct store *store = queue->engine->store;
    return store->vtable->dlq_depth(store, dlq->name);
}

static bool any_at(const struct queue *queue, uint64_t permille) {
    for (size_t i = 0; i < queue->rules.dlq_count; i++) {
        const struct engine_dlq *dlq = &queue->rules.dlqs[i];
        if (dlq->on_full == ON_FULL_BLOCK &&
            depth_of(queue, dlq) * WHOLE_CAP >= dlq->cap * permille)
            return true;
    }
    return false;
}

/* Starts again only below 95 % of the cap, so that it does not flutter. */
bool cap_is_full(struct queue *queue) {
    bool full = any_at(queue, queue->dlq_full ? REOPEN_BELOW : WHOLE_CAP);
    if (full != queue->dlq_full)
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "%s",
                  full ? "a DLQ is at its cap; nothing more is received" : "receiving again");
    queue->dlq_full = full;
    return full;
}

/* Letters for this DLQ whose commit is under way, and which its depth does not show yet. */
static uint64_t letters_arriving(const struct queue *queue, const struct engine_dlq *dlq) {
    uint64_t count = 0;
    LIST_EACH(node, &queue->flights) {
        const struct flight *flight = CONTAINER_OF(node, struct flight, link);
        const struct envelope *envelope = &flight->held->envelope;
        count += envelope->state == STATE_PENDING_REVIEW && bytes_eq(envelope->dlq, dlq->name);
    }
    return count;
}

/* Not full, but it will be if what is on its way arrives: nothing is received until that is known.
 * Otherwise a fast handler would fill a DLQ far beyond its cap before the first commit is through.
 */
static bool is_filling(const struct queue *queue) {
    for (size_t i = 0; i < queue->rules.dlq_count; i++) {
        const struct engine_dlq *dlq = &queue->rules.dlqs[i];
        if (dlq->on_full != ON_FULL_BLOCK)
            continue;
        uint64_t depth = depth_of(queue, dlq);
        if (depth + queue->settling >= dlq->cap && depth + letters_arriving(queue, dlq) >= dlq->cap)
            return true;
    }
    return false;
}

bool cap_has_room(struct queue *queue) {
    queue->dlq_filling = !cap_is_full(queue) && is_filling(queue);
    return !queue->dlq_full && !queue->dlq_filling;
}

bool cap_refuses_reports(const struct queue *queue) {
    return any_at(queue, WHOLE_CAP);
}
