/* Pointers are sorted by where they lead. Of each partition it is asked whether it is there and
 * where its log begins and ends; then it is read from the first record that is wanted to the last,
 * with a leap where the next one is far.
 *
 *   no such topic or partition, outside of the log, another record comes,  ──▶ gone
 *   or the end (deleted, compacted)
 *   the record comes                                                       ──▶ found
 *   anything else (nor is it for good that we may not read a topic),       ──▶ later
 *   and no such topic of a pointer that was just written */
#include "broker/kafka_follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "broker/kafka_message.h"
#include "broker/kafka_pointer.h"

enum {
    KAFKA_FOLLOW_MAX = 32,        /* pointers in one go: their records are in memory together */
    KAFKA_FOLLOW_NEAR = 256,      /* offsets: what is no farther is read up to */
    KAFKA_FOLLOW_YOUNG_MS = 5000, /* since a pointer was written, by the clocks of both sides */
    KAFKA_FOLLOW_WHY_MAX = 400,   /* bytes of why a record is gone */
};

struct want {
    struct kafka_pointer to;
    struct kafka_hand_record *record; /* the pointer */
};

/* The records that are wanted of one partition, by offset. */
struct reading {
    struct kafka_follow *follow;
    struct clock *clock;
    struct mono until;
    struct kafka_url url; /* with the topic that is read */
    int32_t partition;
    struct want *wants;
    size_t count, next; /* next: the first that was not answered */
    struct kafka_head head;
};

static int left_ms(const struct reading *reading) {
    int64_t left = reading->until.ms - clock_now(reading->clock).mono.ms;
    return left > 0 ? (int)left : 0;
}

static enum status trouble(const struct reading *reading, rd_kafka_resp_err_t code,
                           struct err *err) {
    return kafka_client_trouble(&reading->url, code, NULL, err);
}

/* ---- answers ---- */

static void gone(struct reading *reading, const char *why) {
    char words[sizeof(struct err) + 64];
    snprintf(words, sizeof words, "its record cannot be read any more: %s", why);
    kafka_pointer_gone(reading->wants[reading->next++].record->held, words);
}

static void all_gone(struct reading *reading, const char *why) {
    while (reading->next < reading->count)
        gone(reading, why);
}

static void gone_below(struct reading *reading, int64_t offset, const char *why) {
    while (reading->next < reading->count && reading->wants[reading->next].to.offset < offset)
        gone(reading, why);
}

/* Two pointers may tell of one record. */
static void found(struct reading *reading, const rd_kafka_message_t *record) {
    while (reading->next < reading->count &&
           reading->wants[reading->next].to.offset == record->offset) {
        struct kafka_hand_record *pointer = reading->wants[reading->next++].record;
        pointer->held = kafka_pointer_become(
            pointer->held, kafka_message_new(record, &reading->head, reading->follow->pool));
    }
}

/* ---- what there is ---- */

static enum status ask_end(const struct reading *reading, int64_t which, int64_t *out,
                           struct err *err) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *one =
        rd_kafka_topic_partition_list_add(list, reading->url.topic.ptr, reading->partition);
    one->offset = which;
    rd_kafka_resp_err_t code =
        rd_kafka_offsets_for_times(reading->follow->client, list, left_ms(reading));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = one->err;
    *out = one->offset;
    rd_kafka_topic_partition_list_destroy(list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && *out < 0)
        code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? STATUS_OK : trouble(reading, code, err);
}

static enum status ask_partition(const struct reading *reading, struct err *err) {
    size_t partitions = 0;
    enum status status = kafka_client_probe(reading->follow->client, &reading->url,
                                            left_ms(reading), &partitions, err);
    if (status == STATUS_OK && (size_t)reading->partition >= partitions)
        status = trouble(reading, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, err);
    return status;
}

/* Those that are outside of the log are answered. */
static enum status sort_out(struct reading *reading, struct err *err) {
    char why[KAFKA_FOLLOW_WHY_MAX];
    int64_t low = 0, high = 0;
    enum status status = ask_end(reading, RD_KAFKA_OFFSET_BEGINNING, &low, err);
    if (status == STATUS_OK)
        status = ask_end(reading, RD_KAFKA_OFFSET_END, &high, err);
    if (status != STATUS_OK)
        return status;
    snprintf(why, sizeof why, "partition %d of topic %s begins at offset %" PRId64,
             (int)reading->partition, reading->url.topic.ptr, low);
    gone_below(reading, low, why);
    snprintf(why, sizeof why, "partition %d of topic %s ends at offset %" PRId64,
             (int)reading->partition, reading->url.topic.ptr, high);
    size_t inside = reading->next;
    while (inside < reading->count && reading->wants[inside].to.offset < high)
        inside++;
    for (size_t next = reading->next; reading->count > inside; reading->next = next) {
        reading->next = --reading->count;
        gone(reading, why);
    }
    return STATUS_OK;
}

/* ---- reading ---- */

static void pass(struct reading *reading, int64_t offset) {
    char why[KAFKA_FOLLOW_WHY_MAX];
    snprintf(why, sizeof why, "partition %d of topic %s does not have that offset",
             (int)reading->partition, reading->url.topic.ptr);
    gone_below(reading, offset, why);
}

/* The end of what there is to read answers as a record behind it would. Nothing else that is said
 * instead of a record is an answer: the log may have changed since it was asked about, which shows
 * when it is asked about again. */
static enum status take(struct reading *reading, const rd_kafka_message_t *record,
                        struct err *err) {
    size_t before = reading->next;
    if (!record)
        return trouble(reading, RD_KAFKA_RESP_ERR__TIMED_OUT, err);
    if (record->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        pass(reading, record->offset);
        found(reading, record);
        return STATUS_OK;
    }
    enum status status = trouble(reading, record->err, err);
    if (record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        pass(reading, record->offset);
    return reading->next > before ? STATUS_OK : status;
}

static enum status leap(const struct reading *reading, rd_kafka_topic_t *topic, int64_t from,
                        struct err *err) {
    if (reading->next == reading->count)
        return STATUS_OK;
    int64_t to = reading->wants[reading->next].to.offset;
    if (to - from <= KAFKA_FOLLOW_NEAR)
        return STATUS_OK;
    rd_kafka_resp_err_t code = rd_kafka_seek(topic, reading->partition, to, left_ms(reading) + 1);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? STATUS_OK : trouble(reading, code, err);
}

static enum status read_wants(struct reading *reading, rd_kafka_topic_t *topic, struct err *err) {
    enum status status = STATUS_OK;
    while (reading->next < reading->count && status == STATUS_OK) {
        rd_kafka_message_t *record = rd_kafka_consume(topic, reading->partition, left_ms(reading));
        status = take(reading, record, err);
        if (status == STATUS_OK)
            status = leap(reading, topic, record->offset, err);
        if (record)
            rd_kafka_message_destroy(record);
    }
    return status;
}

static enum status read_partition(struct reading *reading, struct err *err) {
    rd_kafka_topic_t *topic =
        rd_kafka_topic_new(reading->follow->client, reading->url.topic.ptr, NULL);
    int64_t from = reading->wants[reading->next].to.offset;
    enum status status;
    kafka_message_head(reading->url.topic, reading->partition, &reading->head);
    if (topic && rd_kafka_consume_start(topic, reading->partition, from) == 0) {
        status = read_wants(reading, topic, err);
        rd_kafka_consume_stop(topic, reading->partition);
    } else {
        status = trouble(reading, rd_kafka_last_error(), err);
    }
    if (topic)
        rd_kafka_topic_destroy(topic);
    return status;
}

/* Of a topic that is new, not every broker has heard. */
static bool is_young(const struct reading *reading) {
    int64_t now_ms = clock_now(reading->clock).wall.ms;
    for (size_t i = reading->next; i < reading->count; i++) {
        int64_t age_ms = now_ms - reading->wants[i].record->held->envelope.created_at.ms;
        if (age_ms < KAFKA_FOLLOW_YOUNG_MS && age_ms > -KAFKA_FOLLOW_YOUNG_MS)
            return true;
    }
    return false;
}

static enum status follow_partition(struct reading *reading, struct err *err) {
    enum status status = ask_partition(reading, err);
    if (status == STATUS_NOT_FOUND && !is_young(reading)) {
        all_gone(reading, err->text);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = sort_out(reading, err);
    if (status == STATUS_OK && reading->next < reading->count)
        status = read_partition(reading, err);
    return status;
}

/* ---- the outside ---- */

/* Whoever wrote the pointer may have been given what was not committed, or never is; so are we. */
static bool open_client(struct kafka_follow *follow, struct err *err) {
    static const struct kafka_client_setting settings[] = {
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_uncommitted"},
        {"auto.offset.reset", "error"},
        {"allow.auto.create.topics", "false"},
        {"fetch.wait.max.ms", "10"},          /* what is asked next does not wait for long */
        {"fetch.message.max.bytes", "65536"}, /* what is behind a record is not wanted */
        {"queued.max.messages.kbytes", "1024"},
    };
    if (!follow->client)
        follow->client =
            kafka_client_new(RD_KAFKA_CONSUMER, follow->url, settings,
                             sizeof settings / sizeof *settings, rd_kafka_conf_new(), NULL, err);
    return follow->client != NULL;
}

static int by_place(const void *one, const void *other) {
    const struct kafka_pointer *a = &((const struct want *)one)->to,
                               *b = &((const struct want *)other)->to;
    int topics = strcmp(a->topic, b->topic);
    if (topics != 0)
        return topics;
    if (a->partition != b->partition)
        return a->partition < b->partition ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static size_t find_wants(struct kafka_hand_record *records, size_t count,
                         struct want wants[KAFKA_FOLLOW_MAX]) {
    size_t found = 0;
    for (size_t i = 0; i < count && found < KAFKA_FOLLOW_MAX; i++)
        if (kafka_pointer_read(records[i].held, &wants[found].to))
            wants[found++].record = &records[i];
    return found;
}

static size_t of_one_partition(const struct want *wants, size_t count) {
    size_t same = 1;
    while (same < count && kafka_pointer_same_partition(&wants[same].to, &wants->to))
        same++;
    return same;
}

static enum status follow_group(struct kafka_follow *follow, struct want *wants, size_t count,
                                struct clock *clock, struct mono until, struct err *err) {
    struct reading reading = {.follow = follow,
                              .clock = clock,
                              .until = until,
                              .url = *follow->url,
                              .partition = wants->to.partition,
                              .wants = wants,
                              .count = count};
    reading.url.topic = bytes_of(wants->to.topic);
    return follow_partition(&reading, err);
}

/* The first pointer holds up all others: where it leads comes first, and whether that was answered
 * is what counts. */
enum status kafka_follow_some(struct kafka_follow *follow, struct kafka_hand_record *records,
                              size_t count, struct clock *clock, struct mono until,
                              struct err *err) {
    struct want wants[KAFKA_FOLLOW_MAX];
    size_t want_count = find_wants(records, count, wants), first = 0;
    struct err other;
    if (want_count == 0)
        return STATUS_OK;
    if (!open_client(follow, err))
        return err->status;
    struct kafka_pointer head = wants[0].to;
    qsort(wants, want_count, sizeof *wants, by_place);
    while (!kafka_pointer_same_partition(&wants[first].to, &head))
        first++;
    size_t same = of_one_partition(wants + first, want_count - first);
    enum status status = follow_group(follow, wants + first, same, clock, until, err);
    for (size_t i = 0; i < want_count && status == STATUS_OK; i += same) {
        same = of_one_partition(wants + i, want_count - i);
        if (i != first)
            follow_group(follow, wants + i, same, clock, until, &other);
    }
    return status;
}

void kafka_follow_close(struct kafka_follow *follow) {
    if (follow->client)
        rd_kafka_destroy(follow->client);
    follow->client = NULL;
}
