#include "engine/hearing.h"

#include "base/memory.h"
#include "engine/queue_facts.h"

static bool is_connected(const struct queue *queue) {
    struct broker_health health;
    queue->broker->vtable->health(queue->broker, &health);
    return health.connected;
}

static void note_below(struct queue *queue, uint64_t below) {
    if (below <= queue->heard_below)
        return;
    queue->heard_below = below;
    queue_facts_changed(queue);
}

bool hearing_stands_in(struct queue *queue, const struct store_held *before) {
    uint64_t seq = before->seq;
    if (!before->envelope.nameless || seq < queue->unheard_from || seq >= queue->first_seq ||
        map_first(&queue->stood_in, seq))
        return false;
    map_insert(&queue->stood_in, memory_new(sizeof(struct map_node)), seq);
    return true;
}

void hearing_stored(struct queue *queue, struct store_held *held, uint64_t seq) {
    if (!held->nameless)
        return;
    held->stored_as = seq;
    if (queue->stored_below <= seq)
        queue->stored_below = seq + 1;
}

static bool may_stand_in(const struct queue *queue) {
    return queue->broker->vtable->heard_below && queue->unheard_from < queue->first_seq;
}

/* What an earlier life had in its hands has come again then, if it comes at all. */
static void end_earlier_lives(struct queue *queue) {
    struct mono now = queue->engine->now.mono;
    if (!may_stand_in(queue))
        return;
    if (queue->given_since.ms != MONO_NEVER.ms)
        queue->given_ms += now.ms - queue->given_since.ms;
    queue->given_since = queue->wants && is_connected(queue) ? now : MONO_NEVER;
    if (queue->given_ms >= HEARING_LASTS_MS)
        queue->unheard_from = queue->first_seq;
}

void hearing_note(struct queue *queue) {
    end_earlier_lives(queue);
    note_below(queue, queue->unheard_from);
    if (queue->heard_below < queue->stored_below)
        note_below(queue, queue->broker->vtable->heard_below(queue->broker));
}

struct mono hearing_next_wake(const struct queue *queue) {
    if (!may_stand_in(queue) || queue->given_since.ms == MONO_NEVER.ms)
        return MONO_NEVER;
    return mono_after(queue->given_since, HEARING_LASTS_MS - queue->given_ms);
}

/* Where messages could not come at all, what an earlier life left may come in the next. */
static bool is_settled(const struct queue *queue) {
    return is_connected(queue) &&
           (!may_stand_in(queue) || queue->given_ms > 0 || queue->given_since.ms != MONO_NEVER.ms);
}

void hearing_note_last(struct queue *queue) {
    struct store *store = queue->engine->store;
    hearing_note(queue);
    if (queue->broker->vtable->heard_below && is_settled(queue))
        note_below(queue, store->vtable->next_seq(store));
}
