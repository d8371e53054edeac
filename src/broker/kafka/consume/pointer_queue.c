#include "broker/kafka/consume/pointer_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broker/kafka/kafka_pointer.h"

static size_t straight(const struct kafka_inflight_record *records, size_t count) {
    struct kafka_pointer to;
    size_t clear = 0;
    while (clear < count && !kafka_pointer_read(records[clear].held, &to))
        clear++;
    return clear;
}

size_t pointer_queue_begin(struct pointer_queue *pointers,
                           const struct kafka_inflight_record *records, size_t count) {
    size_t clear = straight(records, count);
    if (clear == count)
        return count;
    assert(pointers->count == 0);
    pointers->count = count - clear;
    pointers->records = memory_array(pointers->count, sizeof *pointers->records);
    memcpy(pointers->records, records + clear, pointers->count * sizeof *pointers->records);
    return clear;
}

size_t pointer_queue_clear(const struct pointer_queue *pointers) {
    return straight(pointers->records, pointers->count);
}

uint64_t pointer_queue_bytes(const struct pointer_queue *pointers) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < pointers->count; i++)
        bytes += pointers->records[i].held->body.len;
    return bytes;
}

void pointer_queue_leave(struct pointer_queue *pointers, size_t count) {
    assert(count <= pointers->count);
    pointers->count -= count;
    if (pointers->count > 0) {
        memmove(pointers->records, pointers->records + count,
                pointers->count * sizeof *pointers->records);
        return;
    }
    free(pointers->records);
    pointers->records = NULL;
}

void pointer_queue_drop(struct pointer_queue *pointers) {
    struct kafka_pointer head, to;
    size_t kept = 0;
    bool is = pointers->count > 0 && kafka_pointer_read(pointers->records[0].held, &head);
    assert(is);
    (void)is;
    for (size_t i = 0; i < pointers->count; i++) {
        struct message *held = pointers->records[i].held;
        if (kafka_pointer_read(held, &to) && kafka_pointer_same_partition(&to, &head))
            message_free(held);
        else
            pointers->records[kept++] = pointers->records[i];
    }
    pointers->count = kept;
    pointer_queue_leave(pointers, 0);
}

void pointer_queue_free(struct pointer_queue *pointers) {
    for (size_t i = 0; i < pointers->count; i++)
        message_free(pointers->records[i].held);
    pointer_queue_leave(pointers, pointers->count);
}
