/* arrivals_save: the stored form: {"begun":ms,"categories":[…],"groups":[…]}, each series
 * {"name","total","rings":[[[number,count],…],…]} with its non-empty slots. */
#include "base/json/json.h"
#include "triage/groups/arrivals_state.h"

enum { SCRATCH_CHUNK = 256 };

/* ---- writing ---- */

static void put_ring(struct json_out *json, const struct arrivals_ring *ring,
                     enum arrivals_ring_kind kind) {
    json_open(json, '[');
    int64_t slots = (int64_t)arrivals_shapes[kind].slots;
    for (int64_t number = ring->newest - slots + 1; number <= ring->newest; number++) {
        uint32_t count = arrivals_ring_at(ring, kind, number);
        if (count == 0)
            continue;
        json_open(json, '[');
        json_put_i64(json, number);
        json_put_i64(json, count);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void put_list(struct json_out *json, const char *key, const struct list *list) {
    json_key(json, key);
    json_open(json, '[');
    LIST_EACH(node, list) {
        const struct arrivals_series *series = CONTAINER_OF(node, struct arrivals_series, link);
        json_open(json, '{');
        json_key(json, "name");
        json_put_str(json, series->name);
        json_key(json, "total");
        json_put_i64(json, (int64_t)series->total);
        json_key(json, "rings");
        json_open(json, '[');
        for (int kind = 0; kind < RING_COUNT; kind++)
            put_ring(json, &series->rings[kind], (enum arrivals_ring_kind)kind);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void arrivals_put(const struct arrivals *arrivals, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "begun");
    json_put_i64(&json, arrivals->begun.ms);
    put_list(&json, "categories", &arrivals->categories);
    put_list(&json, "groups", &arrivals->groups);
    json_close(&json, '}');
}

/* ---- reading ---- */

/* [number, count], in rising order. */
static bool take_slot(struct arrivals_ring *ring, enum arrivals_ring_kind kind, struct json pair) {
    int64_t step_ms = arrivals_shapes[kind].step_ms, parts[2];
    size_t count = 0;
    for (struct json_walk walk = json_walk(pair); json_step(&walk);)
        if (count == 2 || !json_i64(walk.value, &parts[count++]))
            return false;
    if (count != 2 || parts[0] < 0 || parts[0] > INT64_MAX / step_ms || parts[1] < 0)
        return false;
    arrivals_ring_add(ring, kind, (struct wall){parts[0] * step_ms}, (uint64_t)parts[1]);
    return true;
}

static bool take_rings(struct arrivals_series *series, struct json rings) {
    int kind = 0;
    for (struct json_walk walk = json_walk(rings); json_step(&walk); kind++) {
        if (kind == RING_COUNT)
            return false;
        for (struct json_walk pairs = json_walk(walk.value); json_step(&pairs);)
            if (!take_slot(&series->rings[kind], (enum arrivals_ring_kind)kind, pairs.value))
                return false;
    }
    return kind == RING_COUNT;
}

static bool take_series(struct arrivals *arrivals, struct list *list, size_t *count,
                        struct json object) {
    char memory[SCRATCH_CHUNK];
    struct arena scratch;
    struct json name, total, rings;
    struct bytes text;
    int64_t number;
    arena_init_fixed(&scratch, memory, sizeof memory);
    if (!json_get(object, "name", &name) || !json_get(object, "total", &total) ||
        !json_get(object, "rings", &rings) || !json_string(name, &scratch, &text) ||
        !json_i64(total, &number) || number < 0)
        return false;
    if (text.len == 0 || text.len >= ARRIVALS_NAME_MAX || arrivals_find(arrivals, text))
        return false;
    struct arrivals_series *series = arrivals_add(arrivals, list, count, text);
    series->total = (uint64_t)number;
    return take_rings(series, rings);
}

static bool take_list(struct arrivals *arrivals, struct json document, const char *key,
                      struct list *list, size_t *count, size_t most) {
    struct json array;
    if (!json_get(document, key, &array))
        return false;
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        if (*count == most || !take_series(arrivals, list, count, walk.value))
            return false;
    return true;
}

enum status arrivals_take(struct arrivals *arrivals, struct bytes text, struct err *err) {
    struct json document, begun;
    if (json_parse(text, &document, err) != STATUS_OK)
        return STATUS_INVALID;
    if (json_get(document, "begun", &begun) && json_i64(begun, &arrivals->begun.ms) &&
        take_list(arrivals, document, "categories", &arrivals->categories,
                  &arrivals->category_count, ARRIVALS_CATEGORIES_MAX + 1) &&
        take_list(arrivals, document, "groups", &arrivals->groups, &arrivals->group_count,
                  ARRIVALS_GROUPS_MAX))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "the stored arrival counters are damaged");
}
