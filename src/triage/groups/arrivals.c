/* arrivals: rings of counters, filled by reading the store's totals. See the header. */
#include "triage/groups/arrivals.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/groups/arrivals_state.h"

#define ARRIVALS_NAME  "arrivals" /* name in SPACE_ARRIVALS */
#define ARRIVALS_OTHER "other"

enum { ARENA_CHUNK = 64 * 1024, DOC_MAX = 16 << 20 };

#define SHAPE(code, window, seconds, slots) [RING_##code] = {window, (seconds)*1000, slots},
const struct arrivals_ring_shape arrivals_shapes[RING_COUNT] = {ARRIVALS_RING_LIST(SHAPE)};

/* ---- rings ---- */

static void empty(struct arrivals_ring *ring, int64_t slots, int64_t last, int64_t count) {
    for (int64_t i = 0; i < count && i < slots; i++)
        ring->slots[(last - i) % slots] = 0;
}

/* Threads read concurrently, so `now` may be one slot before the newest: that counts in the newest.
 * A time further back means that the clock was set back: the slots in between are cleared. */
void arrivals_ring_add(struct arrivals_ring *ring, enum arrivals_ring_kind kind, struct wall now,
                       uint64_t count) {
    assert(kind < RING_COUNT && now.ms >= 0);
    const struct arrivals_ring_shape *shape = &arrivals_shapes[kind];
    int64_t slots = (int64_t)shape->slots, number = now.ms / shape->step_ms;
    if (number > ring->newest)
        empty(ring, slots, number, number - ring->newest);
    else if (number < ring->newest - 1)
        empty(ring, slots, ring->newest, ring->newest - number);
    if (number != ring->newest - 1)
        ring->newest = number;
    uint32_t *slot = &ring->slots[ring->newest % slots];
    *slot = count < UINT32_MAX - *slot ? *slot + (uint32_t)count : UINT32_MAX;
}

uint32_t arrivals_ring_at(const struct arrivals_ring *ring, enum arrivals_ring_kind kind,
                          int64_t number) {
    assert(kind < RING_COUNT);
    int64_t slots = (int64_t)arrivals_shapes[kind].slots;
    bool known = number >= 0 && number <= ring->newest && number > ring->newest - slots;
    return known ? ring->slots[number % slots] : 0;
}

/* ---- series ---- */

struct arrivals_series *arrivals_find(const struct arrivals *arrivals, struct bytes name) {
    struct map_node *node = map_first(&arrivals->by_name, bytes_hash(name));
    for (; node; node = map_next(node)) {
        struct arrivals_series *series = CONTAINER_OF(node, struct arrivals_series, node);
        if (bytes_is(name, series->name))
            return series;
    }
    return NULL;
}

struct arrivals_series *arrivals_add(struct arrivals *arrivals, struct list *list, size_t *count,
                                     struct bytes name) {
    assert(name.len < ARRIVALS_NAME_MAX && !arrivals_find(arrivals, name));
    struct arrivals_series *series = memory_new(sizeof *series);
    snprintf(series->name, sizeof series->name, "%.*s", BYTES_ARG(name));
    map_insert(&arrivals->by_name, &series->node, bytes_hash(name));
    list_push_back(list, &series->link);
    ++*count;
    return series;
}

static void drop(struct arrivals *arrivals, struct arrivals_series *series, size_t *count) {
    assert(*count > 0);
    map_remove(&arrivals->by_name, &series->node);
    list_remove(&series->link);
    --*count;
    free(series);
}

static void count_since(struct arrivals *arrivals, struct arrivals_series *series,
                        enum arrivals_ring_kind from, uint64_t total, struct wall now) {
    if (total == series->total)
        return;
    /* A store whose counters were reset starts from 0. */
    uint64_t came = total > series->total ? total - series->total : 0;
    for (int kind = (int)from; kind < RING_COUNT; kind++)
        arrivals_ring_add(&series->rings[kind], (enum arrivals_ring_kind)kind, now, came);
    series->total = total;
    arrivals->changed = true;
}

/* ---- categories ---- */

/* Letters that ever arrived, by category, over all DLQs. */
struct arrival_totals {
    struct bytes names[ARRIVALS_CATEGORIES_MAX + 1];
    uint64_t counts[ARRIVALS_CATEGORIES_MAX + 1];
    size_t count;
};

static void add_total(struct arrival_totals *totals, struct bytes name, uint64_t count) {
    size_t place = 0;
    while (place < totals->count && !bytes_eq(totals->names[place], name))
        place++;
    if (place == totals->count) {
        assert(totals->count < sizeof totals->names / sizeof *totals->names);
        totals->names[totals->count++] = name;
    }
    totals->counts[place] += count;
}

/* A category with a series keeps it; a new category gets one while there is room. */
static struct bytes series_name(const struct arrivals *arrivals,
                                const struct arrival_totals *totals, struct bytes category) {
    struct bytes name = category.len > 0 ? category : BYTES("unknown");
    for (size_t i = 0; i < totals->count; i++)
        if (bytes_eq(totals->names[i], name))
            return name;
    bool known = arrivals_find(arrivals, name) != NULL;
    bool room = arrivals->category_count < ARRIVALS_CATEGORIES_MAX &&
                totals->count < ARRIVALS_CATEGORIES_MAX;
    return name.len < ARRIVALS_NAME_MAX && (known || room) ? name : BYTES(ARRIVALS_OTHER);
}

static void read_categories(struct arrivals *arrivals, struct arena *arena, struct wall now) {
    struct store *store = arrivals->triage->store;
    struct arrival_totals totals = {.count = 0};
    struct bytes *names;
    size_t count;
    (void)letters_dlq_names(store->letters, arena, &names, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        struct letters_dlq dlq;
        if (letters_dlq(store->letters, names[i], now, arena, &dlq, NULL) != STATUS_OK)
            continue;
        for (size_t j = 0; j < dlq.arrived_count; j++) {
            struct bytes name = dlq.arrived[j].name;
            struct bytes category = bytes_cut(name, 0, bytes_find(name, BYTES("\0")));
            add_total(&totals, series_name(arrivals, &totals, category), dlq.arrived[j].count);
        }
    }
    for (size_t i = 0; i < totals.count; i++) {
        struct arrivals_series *series = arrivals_find(arrivals, totals.names[i]);
        if (!series)
            series = arrivals_add(arrivals, &arrivals->categories, &arrivals->category_count,
                                  totals.names[i]);
        count_since(arrivals, series, RING_MINUTES, totals.counts[i], now);
    }
}

/* ---- groups ---- */

/* A DLQ's name may be longer than a series name, so its hash is used. */
static struct bytes group_name(struct bytes dlq, uint64_t fingerprint,
                               char name[ARRIVALS_NAME_MAX]) {
    snprintf(name, ARRIVALS_NAME_MAX, "/%016llx/%016llx", (unsigned long long)bytes_hash(dlq),
             (unsigned long long)fingerprint);
    return bytes_of(name);
}

static void read_group(struct arrivals *arrivals, const struct letters_group *group,
                       struct wall now) {
    char memory[ARRIVALS_NAME_MAX];
    struct bytes name = group_name(group->dlq, group->fingerprint, memory);
    struct arrivals_series *series = arrivals_find(arrivals, name);
    if (!series) {
        if (arrivals->group_count == ARRIVALS_GROUPS_MAX)
            drop(arrivals, CONTAINER_OF(arrivals->groups.next, struct arrivals_series, link),
                 &arrivals->group_count);
        series = arrivals_add(arrivals, &arrivals->groups, &arrivals->group_count, name);
        /* For a group older than the counters the arrival times are unknown: they are not counted.
         */
        if (group->first_seen.ms < arrivals->begun.ms)
            series->total = group->total;
    }
    if (series->total == group->total)
        return;
    list_remove(&series->link);
    list_push_back(&arrivals->groups, &series->link);
    count_since(arrivals, series, RING_HOURS, group->total, now);
}

static void read_groups(struct arrivals *arrivals, struct arena *arena, struct wall now) {
    struct store *store = arrivals->triage->store;
    const struct arrivals_ring_shape *shape = &arrivals_shapes[RING_HOURS];
    struct letters_group *groups;
    size_t count;
    (void)letters_groups(store->letters, BYTES_NONE, arena, &groups, &count, NULL);
    int64_t since = now.ms - ARRIVALS_GROUP_HOURS * shape->step_ms;
    for (size_t i = 0; i < count; i++)
        if (groups[i].last_seen.ms > since)
            read_group(arrivals, &groups[i], now);
}

/* ---- readings ---- */

static void save(struct arrivals *arrivals, struct wall now) {
    struct buf text;
    struct err err;
    buf_init_heap(&text, DOC_MAX);
    arrivals_put(arrivals, &text);
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_ARRIVALS,
                                   .name = BYTES(ARRIVALS_NAME),
                                   .value = buf_view(&text),
                                   .expires = WALL_NEVER}};
    arrivals->saved = now;
    arrivals->changed = triage_commit(arrivals->triage, &op, 1, &err) != STATUS_OK;
    if (arrivals->changed)
        log_warn("arrivals: not saved: %s", err.text);
    buf_free(&text);
}

static void read_all(struct arrivals *arrivals, struct wall now) {
    struct arena arena;
    arena_init_heap(&arena, ARENA_CHUNK);
    read_categories(arrivals, &arena, now);
    read_groups(arrivals, &arena, now);
    arena_free(&arena);
}

void arrivals_read(struct arrivals *arrivals) {
    struct wall now = triage_now(arrivals->triage).wall;
    pthread_mutex_lock(&arrivals->mutex);
    read_all(arrivals, now);
    int64_t passed = now.ms - arrivals->saved.ms;
    if (arrivals->changed && (passed >= ARRIVALS_SAVE_MS || passed < 0))
        save(arrivals, now);
    pthread_mutex_unlock(&arrivals->mutex);
}

/* ---- start and stop ---- */

/* First start: letters that are in the store already arrived before counting began, so they are not
 * counted. Saved at once: after an early crash the next start has totals to count from. */
static void begin(struct arrivals *arrivals, struct wall now) {
    arrivals->begun = now;
    read_all(arrivals, now);
    LIST_EACH(node, &arrivals->categories) {
        struct arrivals_series *series = CONTAINER_OF(node, struct arrivals_series, link);
        for (int kind = 0; kind < RING_COUNT; kind++)
            series->rings[kind] = (struct arrivals_ring){.newest = 0};
    }
    save(arrivals, now);
}

static void free_node(struct map_node *node) {
    free(CONTAINER_OF(node, struct arrivals_series, node));
}

void arrivals_clear(struct arrivals *arrivals) {
    map_drain(&arrivals->by_name, free_node);
    list_init(&arrivals->categories);
    list_init(&arrivals->groups);
    arrivals->category_count = arrivals->group_count = 0;
}

/* OK, or NOT_FOUND: nothing usable is stored. Damaged counters are dropped with a warning: they are
 * only charts, and no reason to refuse to start. */
static enum status load(struct arrivals *arrivals, struct wall now, struct err *err) {
    struct store *store = arrivals->triage->store;
    struct arena arena;
    struct bytes text;
    arena_init_heap(&arena, ARENA_CHUNK);
    enum status status = letters_note(store->letters, 0, SPACE_ARRIVALS, BYTES(ARRIVALS_NAME), now,
                                      &arena, &text, err);
    if (status == STATUS_OK && arrivals_take(arrivals, text, err) != STATUS_OK) {
        log_warn("arrivals: stored counters are unreadable, counting from now: %s", err->text);
        arrivals_clear(arrivals);
        status = STATUS_NOT_FOUND;
    }
    arena_free(&arena);
    return status;
}

enum status arrivals_new(struct triage *triage, struct arrivals **out, struct err *err) {
    struct arrivals *arrivals = memory_new(sizeof *arrivals);
    struct wall now = triage_now(triage).wall;
    arrivals->triage = triage;
    arrivals->saved = now;
    pthread_mutex_init(&arrivals->mutex, NULL);
    arrivals_clear(arrivals);
    enum status status = load(arrivals, now, err);
    if (status == STATUS_OK)
        read_all(arrivals, now);
    else if (status == STATUS_NOT_FOUND)
        begin(arrivals, now);
    else
        arrivals_free(arrivals);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *out = arrivals;
    return STATUS_OK;
}

void arrivals_free(struct arrivals *arrivals) {
    if (!arrivals)
        return;
    map_drain(&arrivals->by_name, free_node);
    pthread_mutex_destroy(&arrivals->mutex);
    free(arrivals);
}

/* ---- the API's view ---- */

static void put_series(struct json_out *json, const struct arrivals_series *series,
                       enum arrivals_ring_kind kind, int64_t first) {
    json_key(json, series->name);
    json_open(json, '[');
    for (size_t i = 0; i < arrivals_shapes[kind].slots; i++)
        json_put_i64(json, arrivals_ring_at(&series->rings[kind], kind, first + (int64_t)i));
    json_close(json, ']');
}

static void put_window(const struct arrivals *arrivals, enum arrivals_ring_kind kind,
                       struct wall now, struct buf *out) {
    const struct arrivals_ring_shape *shape = &arrivals_shapes[kind];
    int64_t first = now.ms / shape->step_ms - (int64_t)shape->slots + 1;
    char from[INSTANT_TEXT_SIZE];
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "window");
    json_put_str(&json, shape->window);
    json_key(&json, "from");
    json_put_str(&json, wall_text((struct wall){first * shape->step_ms}, from));
    json_key(&json, "step_seconds");
    json_put_i64(&json, shape->step_ms / 1000);
    json_key(&json, "steps");
    json_put_i64(&json, (int64_t)shape->slots);
    json_key(&json, "categories");
    json_open(&json, '{');
    LIST_EACH(node, &arrivals->categories)
    put_series(&json, CONTAINER_OF(node, struct arrivals_series, link), kind, first);
    json_close(&json, '}');
    json_close(&json, '}');
}

enum status arrivals_json(struct arrivals *arrivals, struct bytes window, struct buf *out,
                          struct err *err) {
    for (int kind = 0; kind < RING_COUNT; kind++) {
        if (!bytes_is(window, arrivals_shapes[kind].window))
            continue;
        arrivals_read(arrivals);
        pthread_mutex_lock(&arrivals->mutex);
        put_window(arrivals, (enum arrivals_ring_kind)kind, triage_now(arrivals->triage).wall, out);
        pthread_mutex_unlock(&arrivals->mutex);
        return STATUS_OK;
    }
    return err_set(err, STATUS_INVALID, "window=%.*s must be one of 1h, 24h, 7d",
                   BYTES_ARG(bytes_clip(window, ARRIVALS_NAME_MAX)));
}

void arrivals_of_group(struct arrivals *arrivals, struct bytes dlq, uint64_t fingerprint,
                       uint64_t hours[ARRIVALS_GROUP_HOURS]) {
    char memory[ARRIVALS_NAME_MAX];
    int64_t newest = triage_now(arrivals->triage).wall.ms / arrivals_shapes[RING_HOURS].step_ms;
    pthread_mutex_lock(&arrivals->mutex);
    const struct arrivals_series *series =
        arrivals_find(arrivals, group_name(dlq, fingerprint, memory));
    for (int64_t i = 0; series && i < ARRIVALS_GROUP_HOURS; i++)
        hours[i] += arrivals_ring_at(&series->rings[RING_HOURS], RING_HOURS,
                                     newest - ARRIVALS_GROUP_HOURS + 1 + i);
    pthread_mutex_unlock(&arrivals->mutex);
}
