#include "broker/redis/redis_hand.h"

#include "base/memory.h"

void redis_hand_init(struct redis_hand *hand, const struct broker_options *options) {
    *hand = (struct redis_hand){0};
    ahead_init(&hand->ahead, options);
    pthread_mutex_init(&hand->mutex, NULL);
    list_init(&hand->waiting);
    list_init(&hand->recount);
    list_init(&hand->settled);
}

static void item_free(struct redis_item *item) {
    message_free(item->held);
    free((char *)item->tag.ptr);
    free(item);
}

static void free_node(struct map_node *node) {
    item_free(CONTAINER_OF(node, struct redis_item, by_tag));
}

void redis_hand_free(struct redis_hand *hand) {
    map_drain(&hand->items, free_node);
    pthread_mutex_destroy(&hand->mutex);
}

static struct redis_item *item_at(struct list *node) {
    return CONTAINER_OF(node, struct redis_item, link);
}

static void move_to(struct list *list, struct redis_item *item) {
    list_remove(&item->link);
    list_push_back(list, &item->link);
}

/* ---- coming ---- */

static struct redis_item *find(struct redis_hand *hand, struct bytes tag) {
    for (struct map_node *node = map_first(&hand->items, bytes_hash(tag)); node;
         node = map_next(node)) {
        struct redis_item *item = CONTAINER_OF(node, struct redis_item, by_tag);
        if (bytes_eq(item->tag, tag))
            return item;
    }
    return NULL;
}

bool redis_hand_knows(struct redis_hand *hand, struct bytes tag) {
    pthread_mutex_lock(&hand->mutex);
    bool known = find(hand, tag) != NULL;
    pthread_mutex_unlock(&hand->mutex);
    return known;
}

void redis_hand_add(struct redis_hand *hand, struct bytes tag, struct message *held) {
    struct redis_item *item = memory_new(sizeof *item);
    item->tag = (struct bytes){bytes_dup(tag), tag.len};
    item->held = held;
    item->redelivered = held->redelivered;
    item->deliveries = held->deliveries;
    list_init(&item->link);
    held->source = item;
    ahead_note(&hand->ahead, held);
    pthread_mutex_lock(&hand->mutex);
    map_insert(&hand->items, &item->by_tag, bytes_hash(tag));
    list_push_back(&hand->waiting, &item->link);
    hand->waiting_count++;
    pthread_mutex_unlock(&hand->mutex);
}

size_t redis_hand_waiting(struct redis_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    size_t count = hand->waiting_count;
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

size_t redis_hand_known(struct redis_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    size_t count = hand->items.count;
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

/* ---- the engine ---- */

size_t redis_hand_receive(struct redis_hand *hand, struct mono now, struct message **out,
                          size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&hand->mutex);
    LIST_EACH_SAFE(node, &hand->waiting) {
        struct redis_item *item = item_at(node);
        if (count == max)
            break;
        if (item->due.ms > now.ms)
            continue;
        list_remove(node);
        hand->waiting_count--;
        if (item->redelivered && !item->handed_back)
            list_push_back(&hand->recount, node);
        out[count++] = item->held;
        item->held = NULL;
    }
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

void redis_hand_settle(struct redis_hand *hand, struct message *held) {
    pthread_mutex_lock(&hand->mutex);
    move_to(&hand->settled, held->source);
    pthread_mutex_unlock(&hand->mutex);
}

void redis_hand_back(struct redis_hand *hand, struct message *held, struct mono due) {
    struct redis_item *item = held->source;
    pthread_mutex_lock(&hand->mutex);
    item->held = held;
    item->due = due;
    item->handed_back = true;
    move_to(&hand->waiting, item);
    hand->waiting_count++;
    pthread_mutex_unlock(&hand->mutex);
}

struct mono redis_hand_next(struct redis_hand *hand) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&hand->mutex);
    LIST_EACH(node, &hand->waiting) {
        next = mono_earlier(next, item_at(node)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&hand->mutex);
    return next;
}

/* ---- the source's thread ---- */

size_t redis_hand_settled(struct redis_hand *hand, struct redis_item **out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&hand->mutex);
    LIST_EACH(node, &hand->settled) {
        if (count == max)
            break;
        out[count++] = item_at(node);
    }
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

size_t redis_hand_recount(struct redis_hand *hand, struct arena *arena, struct redis_recount *out,
                          size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&hand->mutex);
    for (struct list *node; count < max && (node = list_pop_front(&hand->recount));) {
        const struct redis_item *item = item_at(node);
        out[count++] = (struct redis_recount){arena_dup(arena, item->tag), item->deliveries};
    }
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

size_t redis_hand_withdraw(struct redis_hand *hand, struct redis_item **out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&hand->mutex);
    for (struct list *node = hand->waiting.prev, *before; node != &hand->waiting && count < max;
         node = before) {
        before = node->prev;
        if (item_at(node)->redelivered)
            continue;
        list_remove(node);
        hand->waiting_count--;
        out[count++] = item_at(node);
    }
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

void redis_hand_keep(struct redis_hand *hand, struct redis_item *item) {
    pthread_mutex_lock(&hand->mutex);
    list_push_front(&hand->waiting, &item->link);
    hand->waiting_count++;
    pthread_mutex_unlock(&hand->mutex);
}

void redis_hand_forget(struct redis_hand *hand, struct redis_item *const *items, size_t count) {
    pthread_mutex_lock(&hand->mutex);
    for (size_t i = 0; i < count; i++) {
        list_remove(&items[i]->link);
        map_remove(&hand->items, &items[i]->by_tag);
    }
    pthread_mutex_unlock(&hand->mutex);
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

size_t redis_hand_tags(struct redis_hand *hand, struct arena *arena, struct bytes **out) {
    pthread_mutex_lock(&hand->mutex);
    struct tag_list list = {arena, arena_alloc(arena, (hand->items.count + 1) * sizeof **out), 0};
    map_each(&hand->items, copy_tag, &list);
    pthread_mutex_unlock(&hand->mutex);
    *out = list.tags;
    return list.count;
}
