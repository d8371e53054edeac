#include "broker/kafka/consume/kafka_feed.h"

#include "base/log.h"

enum {
    KAFKA_READ_MAX = 128,   /* records of one partition before another has its turn */
    KAFKA_SPENT_MAX = 1024, /* … of all of them in one go */
    KAFKA_SPENT_BYTES_MAX = 4 << 20,
    KAFKA_FOLLOW_MS = 500,       /* how long a turn waits for the records of pointers … */
    KAFKA_FOLLOW_LAST_MS = 4000, /* … doubling up to this after waits without an answer, and … */
    KAFKA_FOLLOW_AGAIN_MS = 1000, /* … after a pause */
};

/* Records that were copied. Their memory was got by librdkafka's thread, which gets more of it
 * while we free: it and we would meet at one lock of malloc's, record by record, unless many are
 * freed at a time. */
struct spent {
    rd_kafka_message_t *records[KAFKA_SPENT_MAX];
    size_t count, bytes;
};

static void let_go(struct spent *spent) {
    for (size_t i = 0; i < spent->count; i++)
        rd_kafka_message_destroy(spent->records[i]);
}

static struct kafka_inflight_record take_record(const struct kafka_group *group,
                                                const struct kafka_feed *feed,
                                                const rd_kafka_message_t *record) {
    return (struct kafka_inflight_record){kafka_message_new(record, &feed->head, group->pool),
                                          record->offset, kafka_message_print(record)};
}

/* ---- reading ahead ---- */

/* The answer is not awaited, nor used. */
static void ask(struct kafka_group *group, int32_t number) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, group->url->topic.ptr, number)->offset =
        RD_KAFKA_OFFSET_END;
    rd_kafka_offsets_for_times(group->client, list, 0);
    rd_kafka_topic_partition_list_destroy(list);
}

/* librdkafka stops fetching a partition of which it has read enough ahead, and looks again after a
 * second, however soon there is room. Any request to the partition's broker makes it look at once.
 * `behind` is how far the log is beyond what was taken. */
static void prod(struct kafka_group *group, int32_t number, size_t typical_bytes, int64_t behind) {
    struct kafka_feed *feed = &group->feeds[number];
    size_t length = rd_kafka_queue_length(feed->queue);
    if (length > feed->most)
        feed->most = length;
    bool was_full = feed->most * typical_bytes / 1024 >= group->ahead_kib / 2;
    if (!was_full || length > feed->most / 2 || behind <= (int64_t)length)
        return;
    feed->most = length;
    ask(group, number);
}

/* ---- reading ---- */

static void put(struct kafka_group *group, int32_t number,
                const struct kafka_inflight_record *records, size_t count) {
    int64_t low = 0, high = -1;
    uint64_t bytes = 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        bytes += records[i].held->body.len;
        message_count_body(records[i].held, group->memory);
    }
    int64_t last = records[count - 1].offset;
    rd_kafka_get_watermark_offsets(group->client, group->url->topic.ptr, number, &low, &high);
    kafka_inflight_put(group->inflight, number, records, count, high);
    prod(group, number, bytes / count, high - last - 1);
    group->alive = group->fed = true;
}

/* Records that wait behind a pointer are not in flight, but in memory. Where there are too many, a
 * partition is read record by record: it may go on, and if it cannot, one more waits. */
static size_t read_most(const struct kafka_group *group) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < group->feed_count; i++)
        bytes += pointer_queue_bytes(&group->feeds[i].pointers);
    return bytes < KAFKA_INFLIGHT_BYTES_MAX ? KAFKA_READ_MAX : 1;
}

/* Up to `most`. True: there may be more. */
static bool read_some(struct kafka_group *group, int32_t number, size_t most, struct spent *spent) {
    struct kafka_feed *feed = &group->feeds[number];
    struct kafka_inflight_record taken[KAFKA_READ_MAX];
    rd_kafka_message_t **records = spent->records + spent->count;
    size_t room = feed->pointers.count ? 0 : kafka_inflight_room(group->inflight, number),
           count = 0;
    size_t want = room < most ? room : most;
    ssize_t got = want ? rd_kafka_consume_batch_queue(feed->queue, 0, records, want) : 0;
    for (ssize_t i = 0; i < got; i++) {
        spent->bytes += records[i]->len;
        if (records[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            taken[count++] = take_record(group, feed, records[i]);
        else
            kafka_client_trouble(group->url, records[i]->err, rd_kafka_message_errstr(records[i]),
                                 &group->last);
    }
    put(group, number, taken, pointer_queue_begin(&feed->pointers, taken, count));
    spent->count += got > 0 ? (size_t)got : 0;
    return want > 0 && got == (ssize_t)want;
}

/* In turn, until none of them has more. */
bool kafka_feed_read(struct kafka_group *group) {
    struct spent spent;
    size_t empty = 0; /* partitions in a row */
    size_t most = read_most(group);
    spent.count = spent.bytes = 0;
    while (empty < group->feed_count && !group->paused && spent.bytes < KAFKA_SPENT_BYTES_MAX &&
           spent.count + KAFKA_READ_MAX <= KAFKA_SPENT_MAX) {
        size_t number = group->turn++ % group->feed_count;
        bool more = group->feeds[number].queue && read_some(group, (int32_t)number, most, &spent);
        empty = more ? 0 : empty + 1;
    }
    let_go(&spent);
    if (spent.count > 0)
        connection_state_notify(group->state);
    return empty < group->feed_count && !group->paused;
}

/* ---- pointers ---- */

static void tell(struct kafka_group *group, struct kafka_feed *feed, const struct err *err) {
    if (!feed->told)
        log_warn("%s: a pointer to a record cannot be followed; retrying: %s", group->state->name,
                 err->text);
    feed->told = true;
}

static void follow(struct kafka_group *group, int32_t number, struct clock *clock) {
    struct kafka_feed *feed = &group->feeds[number];
    struct err err;
    int64_t wait_ms = feed->follow_ms ? feed->follow_ms : KAFKA_FOLLOW_MS;
    struct mono until = mono_after(clock_now(clock).mono, wait_ms);
    enum status status = kafka_follow_some(&group->follow, feed->pointers.records,
                                           feed->pointers.count, clock, until, &err);
    size_t clear = pointer_queue_clear(&feed->pointers);
    put(group, number, feed->pointers.records, clear);
    pointer_queue_leave(&feed->pointers, clear);
    if (status == STATUS_OK) {
        feed->told = false;
        feed->follow_ms = 0;
        connection_state_notify(group->state);
        return;
    }
    tell(group, feed, &err);
    feed->follow_ms = duration_doubled(wait_ms, KAFKA_FOLLOW_LAST_MS);
    feed->next_follow = mono_after(clock_now(clock).mono, KAFKA_FOLLOW_AGAIN_MS);
}

static bool may_follow(struct kafka_group *group, int32_t number, struct mono now) {
    const struct kafka_feed *feed = &group->feeds[number];
    return feed->pointers.count > 0 && now.ms >= feed->next_follow.ms &&
           kafka_inflight_room(group->inflight, number) > 0;
}

bool kafka_feed_follow(struct kafka_group *group, struct clock *clock) {
    struct mono now = clock_now(clock).mono;
    for (size_t i = 0; i < group->feed_count && !group->paused; i++) {
        int32_t number = (int32_t)(group->follow_turn++ % group->feed_count);
        if (!may_follow(group, number, now))
            continue;
        follow(group, number, clock);
        return true;
    }
    return false;
}

bool kafka_feed_has_pointer(const struct kafka_group *group) {
    for (size_t i = 0; i < group->feed_count; i++)
        if (group->feeds[i].pointers.count > 0)
            return true;
    return false;
}
