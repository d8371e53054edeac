#include "broker/kafka/kafka_hand.h"

#include <assert.h>

#include "base/memory.h"

static struct kafka_item *of_link(struct list *link) {
    return CONTAINER_OF(link, struct kafka_item, link);
}

void kafka_hand_init(struct kafka_hand *hand) {
    *hand = (struct kafka_hand){.wanted = true};
    pthread_mutex_init(&hand->mutex, NULL);
    list_init(&hand->ready);
}

void kafka_hand_free(struct kafka_hand *hand) {
    for (struct list *link; (link = list_pop_front(&hand->ready));)
        message_free(of_link(link)->held);
    for (size_t i = 0; i < hand->partition_count; i++)
        kafka_ledger_free(&hand->partitions[i].ledger);
    free(hand->partitions);
    pthread_mutex_destroy(&hand->mutex);
}

/* ---- with the lock held ---- */

static void enter(struct kafka_hand *hand, struct kafka_item *item) {
    list_push_back(&hand->ready, &item->link);
    hand->ready_count++;
    hand->ready_bytes += item->held->body.len;
}

static void leave(struct kafka_hand *hand, struct kafka_item *item) {
    list_remove(&item->link);
    hand->ready_count--;
    hand->ready_bytes -= item->held->body.len;
}

/* There is room for one until one too many is there. */
static size_t room_for(const struct kafka_hand *hand) {
    if (hand->ready_count >= KAFKA_HAND_MAX || hand->ready_bytes >= KAFKA_HAND_BYTES_MAX)
        return 0;
    size_t count = KAFKA_HAND_MAX - hand->ready_count;
    uint64_t fit = (KAFKA_HAND_BYTES_MAX - hand->ready_bytes) / (hand->typical_bytes + 1) + 1;
    return fit < count ? (size_t)fit : count;
}

static struct kafka_partition *find(struct kafka_hand *hand, int32_t number) {
    return number >= 0 && (size_t)number < hand->partition_count ? &hand->partitions[number] : NULL;
}

static bool is_ours(struct kafka_hand *hand, int32_t number) {
    const struct kafka_partition *partition = find(hand, number);
    return partition && partition->ours;
}

static void make_partitions(struct kafka_hand *hand, size_t count) {
    if (count <= hand->partition_count)
        return;
    hand->partitions = memory_grow(hand->partitions, count * sizeof *hand->partitions);
    for (size_t i = hand->partition_count; i < count; i++) {
        hand->partitions[i] = (struct kafka_partition){.unseen = -1, .committed = -1, .high = -1};
        kafka_ledger_init(&hand->partitions[i].ledger);
    }
    hand->partition_count = count;
}

/* It is in nobody's hands: if the partition is ours, or comes back, it is read again. */
static void drop(struct kafka_hand *hand, struct kafka_item *item) {
    kafka_ledger_drop(&hand->partitions[item->partition].ledger, item->offset, item->print);
    message_free(item->held);
}

/* ---- the engine's side ---- */

bool kafka_hand_receive(struct kafka_hand *hand, struct mono now, struct message **out, size_t max,
                        size_t *count) {
    *count = 0;
    pthread_mutex_lock(&hand->mutex);
    LIST_EACH_SAFE(link, &hand->ready) {
        struct kafka_item *item = of_link(link);
        if (*count == max)
            break;
        if (item->due.ms > now.ms)
            continue;
        leave(hand, item);
        out[(*count)++] = item->held;
    }
    bool hungry = hand->starved && hand->ready_count < KAFKA_HAND_MAX / 2 &&
                  hand->ready_bytes < KAFKA_HAND_BYTES_MAX / 2;
    if (hungry)
        hand->starved = false;
    pthread_mutex_unlock(&hand->mutex);
    return hungry;
}

bool kafka_hand_settle(struct kafka_hand *hand, struct message *held) {
    const struct kafka_item *item = held->source;
    pthread_mutex_lock(&hand->mutex);
    struct kafka_ledger *ledger = &hand->partitions[item->partition].ledger;
    bool was_full = kafka_ledger_full(ledger), first = !hand->settled;
    kafka_ledger_settle(ledger, item->offset, item->print);
    hand->settled = true;
    bool work = first || (was_full && !kafka_ledger_full(ledger));
    pthread_mutex_unlock(&hand->mutex);
    return work;
}

void kafka_hand_back(struct kafka_hand *hand, struct message *held_take, struct mono due) {
    struct kafka_item *item = held_take->source;
    pthread_mutex_lock(&hand->mutex);
    item->due = due;
    if (is_ours(hand, item->partition))
        enter(hand, item);
    else
        drop(hand, item);
    pthread_mutex_unlock(&hand->mutex);
}

bool kafka_hand_want(struct kafka_hand *hand, bool wanted) {
    pthread_mutex_lock(&hand->mutex);
    bool changed = hand->wanted != wanted;
    hand->wanted = wanted;
    pthread_mutex_unlock(&hand->mutex);
    return changed;
}

struct mono kafka_hand_next_wake(struct kafka_hand *hand) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&hand->mutex);
    LIST_EACH(link, &hand->ready) {
        next = mono_earlier(next, of_link(link)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&hand->mutex);
    return next;
}

/* Where reading is, or begins: before a first record was read, what was committed says that. */
static int64_t place_of(const struct kafka_partition *partition) {
    return partition->ledger.next >= 0 ? partition->ledger.next : partition->committed;
}

static uint64_t partition_lag(const struct kafka_partition *partition) {
    int64_t from = place_of(partition);
    bool known = (partition->ours || partition->watched) && partition->high >= 0 && from >= 0;
    return known && partition->high > from ? (uint64_t)(partition->high - from) : 0;
}

static bool is_read(const struct kafka_partition *partition) {
    return partition->ours && partition->high >= 0 && place_of(partition) >= partition->high;
}

uint64_t kafka_hand_lag(struct kafka_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    uint64_t lag = hand->ready_count;
    for (size_t i = 0; i < hand->partition_count; i++)
        lag += partition_lag(&hand->partitions[i]);
    pthread_mutex_unlock(&hand->mutex);
    return lag;
}

bool kafka_hand_drained(struct kafka_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    bool drained = hand->ready_count == 0 && hand->topic_count > 0 &&
                   hand->topic_count <= hand->partition_count;
    for (size_t i = 0; drained && i < hand->partition_count; i++)
        drained = is_read(&hand->partitions[i]);
    pthread_mutex_unlock(&hand->mutex);
    return drained;
}

/* ---- the source's side ---- */

bool kafka_hand_wanted(struct kafka_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    bool wanted = hand->wanted;
    pthread_mutex_unlock(&hand->mutex);
    return wanted;
}

void kafka_hand_assign(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    make_partitions(hand, (size_t)number + 1);
    struct kafka_partition *partition = &hand->partitions[number];
    partition->ours = true;
    partition->unseen = partition->committed = partition->high = -1;
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_revoke(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    struct kafka_partition *partition = find(hand, number);
    LIST_EACH_SAFE(link, &hand->ready) {
        struct kafka_item *item = of_link(link);
        if (item->partition != number)
            continue;
        leave(hand, item);
        drop(hand, item);
    }
    if (partition) {
        partition->ours = false;
        kafka_ledger_rewind(&partition->ledger);
    }
    pthread_mutex_unlock(&hand->mutex);
}

size_t kafka_hand_room(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    size_t room = room_for(hand);
    hand->starved |= room == 0;
    size_t lines = is_ours(hand, number) ? kafka_ledger_room(&hand->partitions[number].ledger) : 0;
    pthread_mutex_unlock(&hand->mutex);
    return room < lines ? room : lines;
}

bool kafka_hand_is_full(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    const struct kafka_partition *partition = find(hand, number);
    bool full = partition && kafka_ledger_full(&partition->ledger);
    pthread_mutex_unlock(&hand->mutex);
    return full;
}

/* True: it is to be given. What another member, or we in another life, may have been given lies
 * below the log's end as it is when the first record is read. */
static bool note_read(struct kafka_partition *partition, struct kafka_item *item, int64_t high) {
    if (high <= item->offset)
        high = item->offset + 1;
    if (partition->unseen < 0)
        partition->unseen = high;
    if (partition->ledger.next < 0 || item->offset < partition->ledger.next)
        partition->committed = item->offset;
    if (high > partition->high)
        partition->high = high;
    item->held->redelivered = item->offset < partition->unseen;
    return kafka_ledger_read(&partition->ledger, item->offset, item->print);
}

static struct kafka_item *make_item(const struct kafka_hand_record *record, int32_t number) {
    struct kafka_item *item = arena_alloc(&record->held->arena, sizeof *item);
    *item = (struct kafka_item){.held = record->held,
                                .partition = number,
                                .offset = record->offset,
                                .print = record->print};
    list_init(&item->link);
    record->held->source = item;
    return item;
}

static bool put(struct kafka_hand *hand, struct kafka_item *item, int64_t high) {
    bool give =
        is_ours(hand, item->partition) && note_read(&hand->partitions[item->partition], item, high);
    if (give)
        enter(hand, item);
    else /* it may have been settled before the partition went away, and not be committed */
        hand->settled = true;
    return give;
}

size_t kafka_hand_put(struct kafka_hand *hand, int32_t number,
                      const struct kafka_hand_record *records_take, size_t count, int64_t high) {
    struct list refused;
    size_t given = 0;
    uint64_t bytes = 0;
    list_init(&refused);
    for (size_t i = 0; i < count; i++)
        make_item(&records_take[i], number);
    pthread_mutex_lock(&hand->mutex);
    for (size_t i = 0; i < count; i++) {
        struct kafka_item *item = records_take[i].held->source;
        bytes += item->held->body.len;
        if (put(hand, item, high))
            given++;
        else
            list_push_back(&refused, &item->link);
    }
    hand->typical_bytes = count ? bytes / count : hand->typical_bytes;
    pthread_mutex_unlock(&hand->mutex);
    for (struct list *link; (link = list_pop_front(&refused));)
        message_free(of_link(link)->held);
    return given;
}

bool kafka_hand_has_settled(struct kafka_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    bool settled = hand->settled;
    pthread_mutex_unlock(&hand->mutex);
    return settled;
}

size_t kafka_hand_commits(struct kafka_hand *hand, struct kafka_hand_commit *out, size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&hand->mutex);
    for (size_t i = 0; i < hand->partition_count && count < max; i++) {
        const struct kafka_partition *partition = &hand->partitions[i];
        int64_t offset = kafka_ledger_commit(&partition->ledger);
        if (partition->ours && offset > partition->committed)
            out[count++] = (struct kafka_hand_commit){(int32_t)i, offset};
    }
    hand->settled = count > 0;
    pthread_mutex_unlock(&hand->mutex);
    return count;
}

void kafka_hand_committed(struct kafka_hand *hand, int32_t number, int64_t offset) {
    pthread_mutex_lock(&hand->mutex);
    if (is_ours(hand, number) && offset > hand->partitions[number].committed)
        hand->partitions[number].committed = offset;
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_topic(struct kafka_hand *hand, size_t count) {
    pthread_mutex_lock(&hand->mutex);
    hand->topic_count = count;
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_join(struct kafka_hand *hand) {
    pthread_mutex_lock(&hand->mutex);
    for (size_t i = 0; i < hand->partition_count; i++)
        hand->partitions[i].watched = false;
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_watch(struct kafka_hand *hand, int32_t number, int64_t committed, int64_t high) {
    pthread_mutex_lock(&hand->mutex);
    make_partitions(hand, (size_t)number + 1);
    struct kafka_partition *partition = &hand->partitions[number];
    partition->watched = true;
    partition->committed = committed;
    partition->high = high;
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_seen(struct kafka_hand *hand, int32_t number, int64_t committed, int64_t high) {
    pthread_mutex_lock(&hand->mutex);
    struct kafka_partition *partition = find(hand, number);
    if (partition && partition->ours) {
        if (committed >= 0 && partition->ledger.next < 0)
            partition->committed = committed;
        if (high > partition->high)
            partition->high = high;
    }
    pthread_mutex_unlock(&hand->mutex);
}

void kafka_hand_at_end(struct kafka_hand *hand, int32_t number) {
    pthread_mutex_lock(&hand->mutex);
    struct kafka_partition *partition = find(hand, number);
    if (partition && partition->ours && place_of(partition) >= 0 &&
        place_of(partition) < partition->high)
        partition->high = place_of(partition);
    pthread_mutex_unlock(&hand->mutex);
}
