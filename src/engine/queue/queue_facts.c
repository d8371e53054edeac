#include "engine/queue/queue_facts.h"

#include <stdio.h>

#include "base/json/json.h"
#include "engine/feature.h"

/* Shortest interval between two writes of the budget's peak. */
enum { PEAK_INTERVAL_MS = 10 * 1000 };

void queue_facts_save_last(struct queue *queue) {
    if (budget_peak(&queue->budget, queue->engine->now.mono) != queue->peak_saved || queue->flood)
        queue_facts_changed(queue);
}

void queue_facts_save_peak(struct queue *queue) {
    struct mono now = queue->engine->now.mono;
    if (!list_empty(&queue->attempts) && now.ms - queue->peak_at.ms >= PEAK_INTERVAL_MS &&
        budget_peak(&queue->budget, now) != queue->peak_saved)
        queue_facts_changed(queue);
}

void queue_facts_put(struct queue *queue, struct buf *out) {
    queue->peak_saved = budget_peak(&queue->budget, queue->engine->now.mono);
    queue->peak_at = queue->engine->now.mono;
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "state");
    json_put_str(&json, queue_state_text(queue->state));
    json_key(&json, "why");
    json_put_str(&json, queue->why);
    json_key(&json, "budget_peak");
    json_put_i64(&json, queue->peak_saved);
    FEATURES_TELL(save, queue, &json);
    json_close(&json, '}');
}

static void load_state(struct queue *queue, struct json facts, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_get(facts, "state", &value) || !json_string(value, arena, &text))
        return;
    for (int state = QUEUE_RUNNING; state <= QUEUE_HALTED; state++)
        if (bytes_is(text, queue_state_text((enum queue_state)state)))
            queue->state = (enum queue_state)state;
    if (json_get(facts, "why", &value) && json_string(value, arena, &text))
        snprintf(queue->why, sizeof queue->why, "%.*s", BYTES_ARG(text));
}

/* At most `max`; 0 if the member is missing. */
static uint64_t load_number(struct json facts, const char *name, uint64_t max) {
    struct json value;
    int64_t number;
    if (!json_get(facts, name, &value) || !json_i64(value, &number) || number < 0)
        return 0;
    return (uint64_t)number < max ? (uint64_t)number : max;
}

void queue_facts_load(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct arena arena;
    struct json facts;
    arena_init_heap(&arena, 1024);
    struct bytes text = store->vtable->queue_facts(store, queue->number, &arena);
    if (text.len && json_parse(text, &facts, NULL) == STATUS_OK) {
        load_state(queue, facts, &arena);
        FEATURES_TELL(load, queue, facts, &arena);
        budget_restore(&queue->budget, (uint32_t)load_number(facts, "budget_peak", UINT32_MAX),
                       queue->engine->now.mono);
    }
    arena_free(&arena);
}
