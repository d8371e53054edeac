#include "broker/redis/redis_inflight.h"

#include "base/memory.h"

void redis_inflight_init(struct redis_inflight *inflight, const struct broker_options *options) {
    *inflight = (struct redis_inflight){0};
    ahead_init(&inflight->ahead, options);
    pthread_mutex_init(&inflight->mutex, NULL);
    list_init(&inflight->waiting);
    list_init(&inflight->recount);
    list_init(&inflight->settled);
}

static void item_free(struct redis_item *item) {
    message_free(item->held);
    free((char *)item->tag.ptr);
    free(item);
}

static void free_node(struct map_node *node) {
    item_free(CONTAINER_OF(node, struct redis_item, by_tag));
}

void redis_inflight_free(struct redis_inflight *inflight) {
    map_drain(&inflight->items, free_node);
    pthread_mutex_destroy(&inflight->mutex);
}

static struct redis_item *item_at(struct list *node) {
    return CONTAINER_OF(node, struct redis_item, link);
}

static void move_to(struct list *list, struct redis_item *item) {
    list_remove(&item->link);
    list_push_back(list, &item->link);
}

/* ---- coming ---- */

static struct redis_item *find(struct redis_inflight *inflight, struct bytes tag) {
    for (struct map_node *node = map_first(&inflight->items, bytes_hash(tag)); node;
         node = map_next(node)) {
        struct redis_item *item = CONTAINER_OF(node, struct redis_item, by_tag);
        if (bytes_eq(item->tag, tag))
            return item;
    }
    return NULL;
}

bool redis_inflight_knows(struct redis_inflight *inflight, struct bytes tag) {
    pthread_mutex_lock(&inflight->mutex);
    bool known = find(inflight, tag) != NULL;
    pthread_mutex_unlock(&inflight->mutex);
    return known;
}

void redis_inflight_add(struct redis_inflight *inflight, struct bytes tag, struct message *held) {
    struct redis_item *item = memory_new(sizeof *item);
    item->tag = (struct bytes){bytes_dup(tag), tag.len};
    item->held = held;
    item->redelivered = held->redelivered;
    item->deliveries = held->deliveries;
    list_init(&item->link);
    held->source = item;
    ahead_note(&inflight->ahead, held);
    pthread_mutex_lock(&inflight->mutex);
    map_insert(&inflight->items, &item->by_tag, bytes_hash(tag));
    list_push_back(&inflight->waiting, &item->link);
    inflight->waiting_count++;
    pthread_mutex_unlock(&inflight->mutex);
}

size_t redis_inflight_waiting(struct redis_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    size_t count = inflight->waiting_count;
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

size_t redis_inflight_known(struct redis_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    size_t count = inflight->items.count;
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

/* ---- the engine ---- */

size_t redis_inflight_receive(struct redis_inflight *inflight, struct mono now,
                              struct message **out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH_SAFE(node, &inflight->waiting) {
        struct redis_item *item = item_at(node);
        if (count == max)
            break;
        if (item->due.ms > now.ms)
            continue;
        list_remove(node);
        inflight->waiting_count--;
        if (item->redelivered && !item->handed_back)
            list_push_back(&inflight->recount, node);
        out[count++] = item->held;
        item->held = NULL;
    }
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

void redis_inflight_settle(struct redis_inflight *inflight, struct message *held) {
    pthread_mutex_lock(&inflight->mutex);
    move_to(&inflight->settled, held->source);
    pthread_mutex_unlock(&inflight->mutex);
}

void redis_inflight_hand_back(struct redis_inflight *inflight, struct message *held,
                              struct mono due) {
    struct redis_item *item = held->source;
    pthread_mutex_lock(&inflight->mutex);
    item->held = held;
    item->due = due;
    item->handed_back = true;
    move_to(&inflight->waiting, item);
    inflight->waiting_count++;
    pthread_mutex_unlock(&inflight->mutex);
}

struct mono redis_inflight_next(struct redis_inflight *inflight) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH(node, &inflight->waiting) {
        next = mono_earlier(next, item_at(node)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&inflight->mutex);
    return next;
}

/* ---- the source's thread ---- */

size_t redis_inflight_settled(struct redis_inflight *inflight, struct redis_item **out,
                              size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH(node, &inflight->settled) {
        if (count == max)
            break;
        out[count++] = item_at(node);
    }
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

size_t redis_inflight_recount(struct redis_inflight *inflight, struct arena *arena,
                              struct redis_recount *out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    for (struct list *node; count < max && (node = list_pop_front(&inflight->recount));) {
        const struct redis_item *item = item_at(node);
        out[count++] = (struct redis_recount){arena_dup(arena, item->tag), item->deliveries};
    }
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

size_t redis_inflight_withdraw(struct redis_inflight *inflight, struct redis_item **out,
                               size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    for (struct list *node = inflight->waiting.prev, *before;
         node != &inflight->waiting && count < max; node = before) {
        before = node->prev;
        if (item_at(node)->redelivered)
            continue;
        list_remove(node);
        inflight->waiting_count--;
        out[count++] = item_at(node);
    }
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

void redis_inflight_keep(struct redis_inflight *inflight, struct redis_item *item) {
    pthread_mutex_lock(&inflight->mutex);
    list_push_front(&inflight->waiting, &item->link);
    inflight->waiting_count++;
    pthread_mutex_unlock(&inflight->mutex);
}

void redis_inflight_forget(struct redis_inflight *inflight, struct redis_item *const *items,
                           size_t count) {
    pthread_mutex_lock(&inflight->mutex);
    for (size_t i = 0; i < count; i++) {
        list_remove(&items[i]->link);
        map_remove(&inflight->items, &items[i]->by_tag);
    }
    pthread_mutex_unlock(&inflight->mutex);
    for (size_t i = 0; i < count; i++)
        item_free(items[i]);
}

struct tag_list {
    struct arena *arena;
    struct bytes *tags;
    size_t count;
};

static void copy_tag(struct map_node *node, void *arg) {
    struct tag_list *list = arg;
    struct bytes tag = CONTAINER_OF(node, struct redis_item, by_tag)->tag;
    list->tags[list->count++] = arena_dup(list->arena, tag);
}

size_t redis_inflight_tags(struct redis_inflight *inflight, struct arena *arena,
                           struct bytes **out) {
    pthread_mutex_lock(&inflight->mutex);
    struct tag_list list = {arena, arena_alloc(arena, (inflight->items.count + 1) * sizeof **out),
                            0};
    map_each(&inflight->items, copy_tag, &list);
    pthread_mutex_unlock(&inflight->mutex);
    *out = list.tags;
    return list.count;
}
