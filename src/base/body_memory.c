/* body_memory: atomic counters. See the header. */
#include "base/body_memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

struct body_memory {
    size_t limit;
    atomic_size_t used[BODY_MEMORY_SIDES];
    atomic_bool wanted;
    pthread_mutex_t mutex; /* guards the listener */
    void (*freed)(void *arg);
    void *arg;
};

struct body_memory *body_memory_new(size_t limit) {
    assert(limit > 0);
    struct body_memory *memory = memory_new(sizeof *memory);
    memory->limit = limit;
    pthread_mutex_init(&memory->mutex, NULL);
    return memory;
}

void body_memory_free(struct body_memory *memory) {
    if (!memory)
        return;
    pthread_mutex_destroy(&memory->mutex);
    free(memory);
}

void body_memory_add(struct body_memory *memory, enum body_memory_side side, size_t bytes) {
    assert(side < BODY_MEMORY_SIDES);
    if (memory && bytes > 0)
        atomic_fetch_add(&memory->used[side], bytes);
}

static void notify(struct body_memory *memory) {
    pthread_mutex_lock(&memory->mutex);
    if (memory->freed)
        memory->freed(memory->arg);
    pthread_mutex_unlock(&memory->mutex);
}

void body_memory_sub(struct body_memory *memory, enum body_memory_side side, size_t bytes) {
    if (!memory || bytes == 0)
        return;
    size_t before = atomic_fetch_sub(&memory->used[side], bytes);
    assert(before >= bytes);
    if (side == BODY_MEMORY_MESSAGES && atomic_load(&memory->wanted) &&
        atomic_exchange(&memory->wanted, false))
        notify(memory);
}

bool body_memory_has_room(const struct body_memory *memory, enum body_memory_side side) {
    return !memory || atomic_load(&memory->used[side]) < (memory->limit + 1) / 2;
}

size_t body_memory_used(const struct body_memory *memory, enum body_memory_side side) {
    return memory ? atomic_load(&memory->used[side]) : 0;
}

size_t body_memory_limit(const struct body_memory *memory) {
    return memory ? memory->limit : 0;
}

void body_memory_listen(struct body_memory *memory, void (*freed)(void *arg), void *arg) {
    if (!memory)
        return;
    pthread_mutex_lock(&memory->mutex);
    memory->freed = freed;
    memory->arg = arg;
    pthread_mutex_unlock(&memory->mutex);
}

void body_memory_want(struct body_memory *memory) {
    if (memory)
        atomic_store(&memory->wanted, true);
}
