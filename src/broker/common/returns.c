#include "broker/common/returns.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct returned {
    struct map_node by_id;
    struct list link;
    struct bytes id; /* owned */
    uint32_t times;
    uint64_t lost_with; /* the last connection that it was lost with */
};

void returns_init(struct returns *returns) {
    *returns = (struct returns){.connection = 1};
    pthread_mutex_init(&returns->mutex, NULL);
    list_init(&returns->oldest);
}

static void forget(struct returns *returns, struct returned *returned) {
    map_remove(&returns->by_id, &returned->by_id);
    list_remove(&returned->link);
    free((char *)returned->id.ptr);
    free(returned);
    returns->count--;
}

static struct returned *first(const struct returns *returns) {
    return CONTAINER_OF(returns->oldest.next, struct returned, link);
}

void returns_free(struct returns *returns) {
    while (!list_empty(&returns->oldest))
        forget(returns, first(returns));
    map_free(&returns->by_id);
    pthread_mutex_destroy(&returns->mutex);
}

static struct returned *find(const struct returns *returns, struct bytes id) {
    for (struct map_node *node = map_first(&returns->by_id, bytes_print(id)); node;
         node = map_next(node)) {
        struct returned *returned = CONTAINER_OF(node, struct returned, by_id);
        if (bytes_eq(returned->id, id))
            return returned;
    }
    return NULL;
}

static struct returned *add(struct returns *returns, struct bytes id) {
    if (returns->count == RETURNS_MAX)
        forget(returns, first(returns));
    struct returned *returned = memory_new(sizeof *returned);
    returned->id = (struct bytes){bytes_dup(id), id.len};
    map_insert(&returns->by_id, &returned->by_id, bytes_print(id));
    list_push_back(&returns->oldest, &returned->link);
    returns->count++;
    assert(returns->count <= RETURNS_MAX);
    return returned;
}

static struct returned *find_or_add(struct returns *returns, struct bytes id) {
    struct returned *returned = find(returns, id);
    return returned ? returned : add(returns, id);
}

void returns_note(struct returns *returns, struct bytes id) {
    pthread_mutex_lock(&returns->mutex);
    find_or_add(returns, id)->times++;
    pthread_mutex_unlock(&returns->mutex);
}

void returns_note_lost(struct returns *returns, struct bytes id) {
    pthread_mutex_lock(&returns->mutex);
    struct returned *returned = find_or_add(returns, id);
    returned->times += returned->lost_with != returns->connection;
    returned->lost_with = returns->connection;
    pthread_mutex_unlock(&returns->mutex);
}

void returns_next_connection(struct returns *returns) {
    pthread_mutex_lock(&returns->mutex);
    returns->connection++;
    pthread_mutex_unlock(&returns->mutex);
}

void returns_deduct(struct returns *returns, struct message *held) {
    pthread_mutex_lock(&returns->mutex);
    const struct returned *returned = find(returns, held->envelope.id);
    if (returned && held->deliveries > 0)
        held->deliveries =
            held->deliveries > returned->times ? held->deliveries - returned->times : 1;
    pthread_mutex_unlock(&returns->mutex);
}
