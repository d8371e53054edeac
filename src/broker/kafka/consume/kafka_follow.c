/* Pointers are sorted by topic, partition and offset. The cluster is asked once which of those
 * topics and partitions exist; then all of them are read at once, through one queue, each from the
 * first wanted record to the last, with a seek where the next one is far away.
 *
 *   no such topic or partition, another record comes (compacted),    ──▶ gone
 *   or the offset is outside of the log, whose ends are asked for
 *   the record comes                                                 ──▶ found
 *   anything else (a missing permission, too),                       ──▶ later
 *   and no such topic, when the pointer was just written */
#include "broker/kafka/consume/kafka_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "broker/kafka/consume/partition_fetch.h"

enum {
    KAFKA_FOLLOW_MAX = 32,   /* pointers in one go: their records are in memory together */
    KAFKA_FOLLOW_NEAR = 256, /* offsets: a record that is no farther away is read up to */
};

struct trip {
    struct kafka_follow *follow;
    struct clock *clock;
    struct mono until;
    struct kafka_want wants[KAFKA_FOLLOW_MAX]; /* by place */
    size_t want_count;
    struct partition_fetch fetches[KAFKA_FOLLOW_MAX];
    size_t fetch_count, reading; /* reading: so many of those are */
    rd_kafka_queue_t *queue;
};

static int left_ms(const struct trip *trip) {
    int64_t left = trip->until.ms - clock_now(trip->clock).mono.ms;
    return left > 0 ? (int)left : 0;
}

/* No answer; the remaining pointers stay pointers. */
static enum status trouble(struct partition_fetch *fetch, rd_kafka_resp_err_t code) {
    return kafka_client_trouble(&fetch->url, code, NULL, &fetch->err);
}

/* ---- what there is ---- */

static const rd_kafka_metadata_topic_t *find_topic(const struct rd_kafka_metadata *metadata,
                                                   struct bytes name) {
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (bytes_is(name, metadata->topics[i].topic))
            return &metadata->topics[i];
    return NULL;
}

static rd_kafka_resp_err_t look_up(const struct partition_fetch *fetch,
                                   const struct rd_kafka_metadata *metadata) {
    const rd_kafka_metadata_topic_t *topic = find_topic(metadata, fetch->url.topic);
    if (!topic)
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return topic->err;
    for (int i = 0; i < topic->partition_cnt; i++)
        if (topic->partitions[i].id == fetch->partition)
            return topic->partitions[i].leader < 0 ? RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE
                                                   : RD_KAFKA_RESP_ERR_NO_ERROR;
    return RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

/* A new topic may not be known to every broker yet. */
static void judge(const struct trip *trip, struct partition_fetch *fetch,
                  rd_kafka_resp_err_t code) {
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    if (trouble(fetch, code) == STATUS_NOT_FOUND &&
        !partition_fetch_young(fetch, clock_now(trip->clock).wall))
        partition_fetch_missing(fetch, fetch->err.text);
}

static void ask_topics(struct trip *trip) {
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code =
        kafka_client_ask(trip->follow->client, NULL, left_ms(trip), &metadata);
    for (size_t i = 0; i < trip->fetch_count; i++)
        judge(trip, &trip->fetches[i], metadata ? look_up(&trip->fetches[i], metadata) : code);
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
}

static bool ask_end(const struct trip *trip, struct partition_fetch *fetch, int64_t which,
                    int64_t *out) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *one =
        rd_kafka_topic_partition_list_add(list, fetch->url.topic.ptr, fetch->partition);
    one->offset = which;
    rd_kafka_resp_err_t code =
        rd_kafka_offsets_for_times(trip->follow->client, list, left_ms(trip));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = one->err;
    *out = one->offset;
    rd_kafka_topic_partition_list_destroy(list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && *out < 0)
        code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        trouble(fetch, code);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* ---- reading ---- */

static void start(struct trip *trip, struct partition_fetch *fetch) {
    fetch->reading = rd_kafka_consume_start_queue(fetch->topic, fetch->partition,
                                                  partition_fetch_next(fetch), trip->queue) == 0;
    if (fetch->reading)
        trip->reading++;
    else
        trouble(fetch, rd_kafka_last_error());
}

static void stop(struct trip *trip, struct partition_fetch *fetch) {
    if (!fetch->reading)
        return;
    rd_kafka_consume_stop(fetch->topic, fetch->partition);
    fetch->reading = false;
    trip->reading--;
}

/* The log ends before the wanted offset, or begins after it. A new leader may not know the end of
 * the log yet; asked for it, it does. */
static void look_outside(struct trip *trip, struct partition_fetch *fetch) {
    int64_t low = 0, high = 0;
    size_t before = fetch->count - fetch->next;
    stop(trip, fetch);
    if (!ask_end(trip, fetch, RD_KAFKA_OFFSET_BEGINNING, &low) ||
        !ask_end(trip, fetch, RD_KAFKA_OFFSET_END, &high))
        return;
    partition_fetch_span(fetch, low, high);
    if (partition_fetch_done(fetch))
        return;
    if (fetch->count - fetch->next < before)
        start(trip, fetch);
    else /* it has changed since */
        trouble(fetch, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
}

static void leap(struct trip *trip, struct partition_fetch *fetch, int64_t from) {
    if (partition_fetch_done(fetch) || partition_fetch_next(fetch) - from <= KAFKA_FOLLOW_NEAR)
        return;
    rd_kafka_resp_err_t code = rd_kafka_seek(fetch->topic, fetch->partition,
                                             partition_fetch_next(fetch), left_ms(trip) + 1);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    trouble(fetch, code);
    stop(trip, fetch);
}

static void take(struct trip *trip, struct partition_fetch *fetch,
                 const rd_kafka_message_t *record) {
    switch ((int)record->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        partition_fetch_take(fetch, record);
        leap(trip, fetch, record->offset);
        break;
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        partition_fetch_pass(fetch, record->offset);
        if (!partition_fetch_done(fetch))
            look_outside(trip, fetch);
        break;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        look_outside(trip, fetch);
        break;
    default:
        trouble(fetch, record->err);
        stop(trip, fetch);
    }
    if (partition_fetch_done(fetch))
        stop(trip, fetch);
}

static struct partition_fetch *find_fetch(struct trip *trip, const rd_kafka_message_t *record) {
    for (size_t i = 0; record->rkt && i < trip->fetch_count; i++) {
        struct partition_fetch *fetch = &trip->fetches[i];
        if (fetch->reading && fetch->partition == record->partition &&
            bytes_is(fetch->url.topic, rd_kafka_topic_name(record->rkt)))
            return fetch;
    }
    return NULL;
}

static void read_places(struct trip *trip) {
    for (size_t i = 0; i < trip->fetch_count; i++)
        if (!partition_fetch_done(&trip->fetches[i]) && !trip->fetches[i].err.text[0])
            start(trip, &trip->fetches[i]);
    for (int ms = left_ms(trip); trip->reading > 0 && ms > 0; ms = left_ms(trip)) {
        rd_kafka_message_t *record = rd_kafka_consume_queue(trip->queue, ms);
        struct partition_fetch *fetch = record ? find_fetch(trip, record) : NULL;
        if (fetch)
            take(trip, fetch, record);
        if (record)
            rd_kafka_message_destroy(record);
    }
    for (size_t i = 0; i < trip->fetch_count; i++) {
        if (trip->fetches[i].reading)
            trouble(&trip->fetches[i], RD_KAFKA_RESP_ERR__TIMED_OUT);
        stop(trip, &trip->fetches[i]);
    }
}

/* ---- the way there and back ---- */

/* The writer of the pointer may have read uncommitted records; so do we. */
static bool open_client(struct kafka_follow *follow, struct err *err) {
    static const struct kafka_client_setting settings[] = {
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_uncommitted"},
        {"auto.offset.reset", "error"},
        {"allow.auto.create.topics", "false"},
        {"fetch.wait.max.ms", "10"},          /* the next request does not wait for long */
        {"fetch.message.max.bytes", "65536"}, /* records after the wanted one are not needed */
        {"queued.max.messages.kbytes", "1024"},
    };
    if (!follow->client)
        follow->client =
            kafka_client_new(RD_KAFKA_CONSUMER, follow->url, settings,
                             sizeof settings / sizeof *settings, rd_kafka_conf_new(), NULL, err);
    return follow->client != NULL;
}

static int by_place(const void *one, const void *other) {
    const struct kafka_pointer *a = &((const struct kafka_want *)one)->to,
                               *b = &((const struct kafka_want *)other)->to;
    int topics = strcmp(a->topic, b->topic);
    if (topics != 0)
        return topics;
    if (a->partition != b->partition)
        return a->partition < b->partition ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static size_t find_wants(struct kafka_inflight_record *records, size_t count,
                         struct kafka_want wants[KAFKA_FOLLOW_MAX]) {
    size_t found = 0;
    for (size_t i = 0; i < count && found < KAFKA_FOLLOW_MAX; i++)
        if (kafka_pointer_read(records[i].held, &wants[found].to))
            wants[found++].record = &records[i];
    return found;
}

static size_t of_one_partition(const struct kafka_want *wants, size_t count) {
    size_t same = 1;
    while (same < count && kafka_pointer_same_partition(&wants[same].to, &wants->to))
        same++;
    return same;
}

static void open_place(struct trip *trip, struct kafka_want *wants, size_t count) {
    struct partition_fetch *fetch = &trip->fetches[trip->fetch_count++];
    *fetch = (struct partition_fetch){.url = *trip->follow->url,
                                      .partition = wants->to.partition,
                                      .wants = wants,
                                      .count = count,
                                      .pool = trip->follow->pool};
    fetch->url.topic = bytes_of(wants->to.topic);
    kafka_message_head(fetch->url.topic, fetch->partition, &fetch->head);
    fetch->topic = rd_kafka_topic_new(trip->follow->client, wants->to.topic, NULL);
    if (!fetch->topic)
        trouble(fetch, rd_kafka_last_error());
}

static void go(struct trip *trip) {
    size_t same;
    qsort(trip->wants, trip->want_count, sizeof *trip->wants, by_place);
    for (size_t i = 0; i < trip->want_count; i += same) {
        same = of_one_partition(trip->wants + i, trip->want_count - i);
        open_place(trip, trip->wants + i, same);
    }
    trip->queue = rd_kafka_queue_new(trip->follow->client);
    ask_topics(trip);
    read_places(trip);
    rd_kafka_queue_destroy(trip->queue);
    for (size_t i = 0; i < trip->fetch_count; i++)
        if (trip->fetches[i].topic)
            rd_kafka_topic_destroy(trip->fetches[i].topic);
}

/* The first pointer blocks all others: whether it was answered decides the result. */
static enum status tell(const struct trip *trip, const struct kafka_inflight_record *first,
                        struct err *err) {
    struct kafka_pointer to;
    if (!kafka_pointer_read(first->held, &to))
        return STATUS_OK;
    for (size_t i = 0; i < trip->fetch_count; i++)
        if (kafka_pointer_same_partition(&trip->fetches[i].wants->to, &to))
            *err = trip->fetches[i].err;
    return err->status;
}

enum status kafka_follow_some(struct kafka_follow *follow, struct kafka_inflight_record *records,
                              size_t count, struct clock *clock, struct mono until,
                              struct err *err) {
    if (!open_client(follow, err))
        return err->status;
    struct trip *trip = memory_new(sizeof *trip);
    trip->follow = follow;
    trip->clock = clock;
    trip->until = until;
    trip->want_count = find_wants(records, count, trip->wants);
    enum status status = STATUS_OK;
    if (trip->want_count > 0) {
        const struct kafka_inflight_record *first = trip->wants[0].record;
        go(trip);
        status = tell(trip, first, err);
    }
    free(trip);
    return status;
}

void kafka_follow_close(struct kafka_follow *follow) {
    if (follow->client)
        rd_kafka_destroy(follow->client);
    follow->client = NULL;
}
