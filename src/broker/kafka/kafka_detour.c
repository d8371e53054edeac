#include "broker/kafka/kafka_detour.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broker/kafka/kafka_pointer.h"

static size_t straight(const struct kafka_hand_record *records, size_t count) {
    struct kafka_pointer to;
    size_t clear = 0;
    while (clear < count && !kafka_pointer_read(records[clear].held, &to))
        clear++;
    return clear;
}

size_t kafka_detour_begin(struct kafka_detour *detour, const struct kafka_hand_record *records,
                          size_t count) {
    size_t clear = straight(records, count);
    if (clear == count)
        return count;
    assert(detour->count == 0);
    detour->count = count - clear;
    detour->records = memory_array(detour->count, sizeof *detour->records);
    memcpy(detour->records, records + clear, detour->count * sizeof *detour->records);
    return clear;
}

size_t kafka_detour_clear(const struct kafka_detour *detour) {
    return straight(detour->records, detour->count);
}

uint64_t kafka_detour_bytes(const struct kafka_detour *detour) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < detour->count; i++)
        bytes += detour->records[i].held->body.len;
    return bytes;
}

void kafka_detour_leave(struct kafka_detour *detour, size_t count) {
    assert(count <= detour->count);
    detour->count -= count;
    if (detour->count > 0) {
        memmove(detour->records, detour->records + count, detour->count * sizeof *detour->records);
        return;
    }
    free(detour->records);
    detour->records = NULL;
}

void kafka_detour_drop(struct kafka_detour *detour) {
    struct kafka_pointer head, to;
    size_t kept = 0;
    bool is = detour->count > 0 && kafka_pointer_read(detour->records[0].held, &head);
    assert(is);
    (void)is;
    for (size_t i = 0; i < detour->count; i++) {
        struct message *held = detour->records[i].held;
        if (kafka_pointer_read(held, &to) && kafka_pointer_same_partition(&to, &head))
            message_free(held);
        else
            detour->records[kept++] = detour->records[i];
    }
    detour->count = kept;
    kafka_detour_leave(detour, 0);
}

void kafka_detour_free(struct kafka_detour *detour) {
    for (size_t i = 0; i < detour->count; i++)
        message_free(detour->records[i].held);
    kafka_detour_leave(detour, detour->count);
}
