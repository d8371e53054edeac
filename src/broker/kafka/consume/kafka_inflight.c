#include "broker/kafka/consume/kafka_inflight.h"

#include <assert.h>

#include "base/memory.h"

static struct kafka_item *of_link(struct list *link) {
    return CONTAINER_OF(link, struct kafka_item, link);
}

void kafka_inflight_init(struct kafka_inflight *inflight) {
    *inflight = (struct kafka_inflight){.wanted = true};
    pthread_mutex_init(&inflight->mutex, NULL);
    list_init(&inflight->ready);
}

void kafka_inflight_free(struct kafka_inflight *inflight) {
    for (struct list *link; (link = list_pop_front(&inflight->ready));)
        message_free(of_link(link)->held);
    for (size_t i = 0; i < inflight->partition_count; i++)
        offset_tracker_free(&inflight->partitions[i].tracker);
    free(inflight->partitions);
    pthread_mutex_destroy(&inflight->mutex);
}

/* ---- with the lock held ---- */

static void enter(struct kafka_inflight *inflight, struct kafka_item *item) {
    list_push_back(&inflight->ready, &item->link);
    inflight->ready_count++;
    inflight->ready_bytes += item->held->body.len;
}

static void leave(struct kafka_inflight *inflight, struct kafka_item *item) {
    list_remove(&item->link);
    inflight->ready_count--;
    inflight->ready_bytes -= item->held->body.len;
}

/* Room is counted by records and bytes; one record is always allowed until a limit is exceeded. */
static size_t room_for(const struct kafka_inflight *inflight) {
    if (inflight->ready_count >= KAFKA_INFLIGHT_MAX ||
        inflight->ready_bytes >= KAFKA_INFLIGHT_BYTES_MAX)
        return 0;
    size_t count = KAFKA_INFLIGHT_MAX - inflight->ready_count;
    uint64_t fit =
        (KAFKA_INFLIGHT_BYTES_MAX - inflight->ready_bytes) / (inflight->typical_bytes + 1) + 1;
    return fit < count ? (size_t)fit : count;
}

static struct kafka_partition *find(struct kafka_inflight *inflight, int32_t number) {
    return number >= 0 && (size_t)number < inflight->partition_count ? &inflight->partitions[number]
                                                                     : NULL;
}

static bool is_ours(struct kafka_inflight *inflight, int32_t number) {
    const struct kafka_partition *partition = find(inflight, number);
    return partition && partition->ours;
}

static void make_partitions(struct kafka_inflight *inflight, size_t count) {
    if (count <= inflight->partition_count)
        return;
    inflight->partitions = memory_grow(inflight->partitions, count * sizeof *inflight->partitions);
    for (size_t i = inflight->partition_count; i < count; i++) {
        inflight->partitions[i] =
            (struct kafka_partition){.unseen = -1, .committed = -1, .high = -1};
        offset_tracker_init(&inflight->partitions[i].tracker);
    }
    inflight->partition_count = count;
}

/* The record is not in flight: if the partition is ours, or is assigned again, it is read again. */
static void drop(struct kafka_inflight *inflight, struct kafka_item *item) {
    offset_tracker_drop(&inflight->partitions[item->partition].tracker, item->offset, item->print);
    message_free(item->held);
}

/* ---- the engine's side ---- */

bool kafka_inflight_receive(struct kafka_inflight *inflight, struct mono now, struct message **out,
                            size_t max, size_t *count) {
    *count = 0;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH_SAFE(link, &inflight->ready) {
        struct kafka_item *item = of_link(link);
        if (*count == max)
            break;
        if (item->due.ms > now.ms)
            continue;
        leave(inflight, item);
        out[(*count)++] = item->held;
    }
    bool hungry = inflight->starved && inflight->ready_count < KAFKA_INFLIGHT_MAX / 2 &&
                  inflight->ready_bytes < KAFKA_INFLIGHT_BYTES_MAX / 2;
    if (hungry)
        inflight->starved = false;
    pthread_mutex_unlock(&inflight->mutex);
    return hungry;
}

bool kafka_inflight_settle(struct kafka_inflight *inflight, struct message *held) {
    const struct kafka_item *item = held->source;
    pthread_mutex_lock(&inflight->mutex);
    struct offset_tracker *tracker = &inflight->partitions[item->partition].tracker;
    bool was_full = offset_tracker_full(tracker), first = !inflight->settled;
    offset_tracker_settle(tracker, item->offset, item->print);
    inflight->settled = true;
    bool work = first || (was_full && !offset_tracker_full(tracker));
    pthread_mutex_unlock(&inflight->mutex);
    return work;
}

void kafka_inflight_hand_back(struct kafka_inflight *inflight, struct message *held_take,
                              struct mono due) {
    struct kafka_item *item = held_take->source;
    pthread_mutex_lock(&inflight->mutex);
    item->due = due;
    if (is_ours(inflight, item->partition))
        enter(inflight, item);
    else
        drop(inflight, item);
    pthread_mutex_unlock(&inflight->mutex);
}

bool kafka_inflight_want(struct kafka_inflight *inflight, bool wanted) {
    pthread_mutex_lock(&inflight->mutex);
    bool changed = inflight->wanted != wanted;
    inflight->wanted = wanted;
    pthread_mutex_unlock(&inflight->mutex);
    return changed;
}

struct mono kafka_inflight_next_wake(struct kafka_inflight *inflight) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&inflight->mutex);
    LIST_EACH(link, &inflight->ready) {
        next = mono_earlier(next, of_link(link)->due);
        if (next.ms == 0)
            break;
    }
    pthread_mutex_unlock(&inflight->mutex);
    return next;
}

/* The position of reading: before the first record it is the committed offset. */
static int64_t place_of(const struct kafka_partition *partition) {
    return partition->tracker.next >= 0 ? partition->tracker.next : partition->committed;
}

static uint64_t partition_lag(const struct kafka_partition *partition) {
    int64_t from = place_of(partition);
    bool known = (partition->ours || partition->watched) && partition->high >= 0 && from >= 0;
    return known && partition->high > from ? (uint64_t)(partition->high - from) : 0;
}

static bool is_read(const struct kafka_partition *partition) {
    return partition->ours && partition->high >= 0 && place_of(partition) >= partition->high;
}

uint64_t kafka_inflight_lag(struct kafka_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    uint64_t lag = inflight->ready_count;
    for (size_t i = 0; i < inflight->partition_count; i++)
        lag += partition_lag(&inflight->partitions[i]);
    pthread_mutex_unlock(&inflight->mutex);
    return lag;
}

bool kafka_inflight_drained(struct kafka_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    bool drained = inflight->ready_count == 0 && inflight->topic_count > 0 &&
                   inflight->topic_count <= inflight->partition_count;
    for (size_t i = 0; drained && i < inflight->partition_count; i++)
        drained = is_read(&inflight->partitions[i]);
    pthread_mutex_unlock(&inflight->mutex);
    return drained;
}

/* ---- the source's side ---- */

bool kafka_inflight_wanted(struct kafka_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    bool wanted = inflight->wanted;
    pthread_mutex_unlock(&inflight->mutex);
    return wanted;
}

void kafka_inflight_assign(struct kafka_inflight *inflight, int32_t number) {
    pthread_mutex_lock(&inflight->mutex);
    make_partitions(inflight, (size_t)number + 1);
    struct kafka_partition *partition = &inflight->partitions[number];
    partition->ours = true;
    partition->unseen = partition->committed = partition->high = -1;
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_revoke(struct kafka_inflight *inflight, int32_t number) {
    pthread_mutex_lock(&inflight->mutex);
    struct kafka_partition *partition = find(inflight, number);
    LIST_EACH_SAFE(link, &inflight->ready) {
        struct kafka_item *item = of_link(link);
        if (item->partition != number)
            continue;
        leave(inflight, item);
        drop(inflight, item);
    }
    if (partition) {
        partition->ours = false;
        offset_tracker_rewind(&partition->tracker);
    }
    pthread_mutex_unlock(&inflight->mutex);
}

size_t kafka_inflight_room(struct kafka_inflight *inflight, int32_t number) {
    pthread_mutex_lock(&inflight->mutex);
    size_t room = room_for(inflight);
    inflight->starved |= room == 0;
    size_t lines =
        is_ours(inflight, number) ? offset_tracker_room(&inflight->partitions[number].tracker) : 0;
    pthread_mutex_unlock(&inflight->mutex);
    return room < lines ? room : lines;
}

bool kafka_inflight_is_full(struct kafka_inflight *inflight, int32_t number) {
    pthread_mutex_lock(&inflight->mutex);
    const struct kafka_partition *partition = find(inflight, number);
    bool full = partition && offset_tracker_full(&partition->tracker);
    pthread_mutex_unlock(&inflight->mutex);
    return full;
}

/* True: it is to be given. Records below the end of the log at the time of the first read may have
 * been delivered before, to another member or to us. */
static bool note_read(struct kafka_partition *partition, struct kafka_item *item, int64_t high) {
    if (high <= item->offset)
        high = item->offset + 1;
    if (partition->unseen < 0)
        partition->unseen = high;
    if (partition->tracker.next < 0 || item->offset < partition->tracker.next)
        partition->committed = item->offset;
    if (high > partition->high)
        partition->high = high;
    item->held->redelivered = item->offset < partition->unseen;
    return offset_tracker_read(&partition->tracker, item->offset, item->print);
}

static struct kafka_item *make_item(const struct kafka_inflight_record *record, int32_t number) {
    struct kafka_item *item = arena_alloc(&record->held->arena, sizeof *item);
    *item = (struct kafka_item){.held = record->held,
                                .partition = number,
                                .offset = record->offset,
                                .print = record->print};
    list_init(&item->link);
    record->held->source = item;
    return item;
}

static bool put(struct kafka_inflight *inflight, struct kafka_item *item, int64_t high) {
    bool give = is_ours(inflight, item->partition) &&
                note_read(&inflight->partitions[item->partition], item, high);
    if (give)
        enter(inflight, item);
    else /* it may have been settled before the partition was revoked, and not committed */
        inflight->settled = true;
    return give;
}

size_t kafka_inflight_put(struct kafka_inflight *inflight, int32_t number,
                          const struct kafka_inflight_record *records_take, size_t count,
                          int64_t high) {
    struct list refused;
    size_t given = 0;
    uint64_t bytes = 0;
    list_init(&refused);
    for (size_t i = 0; i < count; i++)
        make_item(&records_take[i], number);
    pthread_mutex_lock(&inflight->mutex);
    for (size_t i = 0; i < count; i++) {
        struct kafka_item *item = records_take[i].held->source;
        bytes += item->held->body.len;
        if (put(inflight, item, high))
            given++;
        else
            list_push_back(&refused, &item->link);
    }
    inflight->typical_bytes = count ? bytes / count : inflight->typical_bytes;
    pthread_mutex_unlock(&inflight->mutex);
    for (struct list *link; (link = list_pop_front(&refused));)
        message_free(of_link(link)->held);
    return given;
}

bool kafka_inflight_has_settled(struct kafka_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    bool settled = inflight->settled;
    pthread_mutex_unlock(&inflight->mutex);
    return settled;
}

size_t kafka_inflight_commits(struct kafka_inflight *inflight, struct kafka_inflight_commit *out,
                              size_t max) {
    size_t count = 0;
    pthread_mutex_lock(&inflight->mutex);
    for (size_t i = 0; i < inflight->partition_count && count < max; i++) {
        const struct kafka_partition *partition = &inflight->partitions[i];
        int64_t offset = offset_tracker_commit(&partition->tracker);
        if (partition->ours && offset > partition->committed)
            out[count++] = (struct kafka_inflight_commit){(int32_t)i, offset};
    }
    inflight->settled = count > 0;
    pthread_mutex_unlock(&inflight->mutex);
    return count;
}

void kafka_inflight_committed(struct kafka_inflight *inflight, int32_t number, int64_t offset) {
    pthread_mutex_lock(&inflight->mutex);
    if (is_ours(inflight, number) && offset > inflight->partitions[number].committed)
        inflight->partitions[number].committed = offset;
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_topic(struct kafka_inflight *inflight, size_t count) {
    pthread_mutex_lock(&inflight->mutex);
    inflight->topic_count = count;
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_join(struct kafka_inflight *inflight) {
    pthread_mutex_lock(&inflight->mutex);
    for (size_t i = 0; i < inflight->partition_count; i++)
        inflight->partitions[i].watched = false;
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_watch(struct kafka_inflight *inflight, int32_t number, int64_t committed,
                          int64_t high) {
    pthread_mutex_lock(&inflight->mutex);
    make_partitions(inflight, (size_t)number + 1);
    struct kafka_partition *partition = &inflight->partitions[number];
    partition->watched = true;
    partition->committed = committed;
    partition->high = high;
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_seen(struct kafka_inflight *inflight, int32_t number, int64_t committed,
                         int64_t high) {
    pthread_mutex_lock(&inflight->mutex);
    struct kafka_partition *partition = find(inflight, number);
    if (partition && partition->ours) {
        if (committed >= 0 && partition->tracker.next < 0)
            partition->committed = committed;
        if (high > partition->high)
            partition->high = high;
    }
    pthread_mutex_unlock(&inflight->mutex);
}

void kafka_inflight_at_end(struct kafka_inflight *inflight, int32_t number) {
    pthread_mutex_lock(&inflight->mutex);
    struct kafka_partition *partition = find(inflight, number);
    if (partition && partition->ours && place_of(partition) >= 0 &&
        place_of(partition) < partition->high)
        partition->high = place_of(partition);
    pthread_mutex_unlock(&inflight->mutex);
}
