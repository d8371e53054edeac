#include "engine/features/stops.h"

#include <string.h>

#include "engine/receive.h"
#include "engine/source.h"
#include "engine/queue/queue_facts.h"
#include "engine/feature.h"

static void add(struct queue *queue, struct wall at) {
    if (queue->stop_count == QUEUE_STOPS_MAX) {
        memmove(queue->stops, queue->stops + 1, (QUEUE_STOPS_MAX - 1) * sizeof *queue->stops);
        queue->stop_count--;
    }
    queue->stops[queue->stop_count++] = at;
}

void stops_note(struct queue *queue) {
    if (!source_is_server(queue))
        return;
    add(queue, queue->engine->now.wall);
    queue_facts_changed(queue);
}

uint32_t stops_since(const struct queue *queue, struct wall created_at) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < queue->stop_count; i++)
        count += created_at.ms == WALL_NEVER.ms || queue->stops[i].ms >= created_at.ms;
    return count;
}

void stops_put(const struct queue *queue, struct json_out *json) {
    if (queue->stop_count == 0)
        return;
    json_key(json, "stops");
    json_open(json, '[');
    for (uint32_t i = 0; i < queue->stop_count; i++)
        json_put_i64(json, queue->stops[i].ms);
    json_close(json, ']');
}

void stops_load(struct queue *queue, struct json facts) {
    struct json list;
    int64_t at;
    if (!json_get(facts, "stops", &list) || list.type != JSON_ARRAY)
        return;
    for (struct json_walk walk = json_walk(list); json_step(&walk);)
        if (json_i64(walk.value, &at))
            add(queue, (struct wall){at});
}

/* ---- the feature ---- */

static void save(struct queue *queue, struct json_out *facts) {
    stops_put(queue, facts);
}

static void load(struct queue *queue, struct json facts, struct arena *arena) {
    (void)arena;
    stops_load(queue, facts);
}

const struct engine_feature stops_feature = {
    .name = "graceful stops",
    .hold = stops_note,
    .save = save,
    .load = load,
};
