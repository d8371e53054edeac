#include "broker/kafka_end.h"

/* Where reading is, or begins. */
static int64_t place_of(const struct kafka_partition *partition) {
    return partition->ledger.next >= 0 ? partition->ledger.next : partition->committed;
}

void kafka_end_reached(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    bool known = number >= 0 && (size_t)number < hand->partition_count;
    struct kafka_partition *partition = known ? &hand->partitions[number] : NULL;
    if (partition && partition->ours && place_of(partition) >= 0 &&
        place_of(partition) < partition->high)
        partition->high = place_of(partition);
    pthread_mutex_unlock(&hand->mutex);
}
