/* Every partition is assigned from its beginning, and read up to the end that it had at the start.
 * No group is joined and nothing is committed, so that nothing changes at the cluster.
 *
 *   found (how many partitions) ──▶ measured (where each begins and ends) ──▶ reading ──▶ over
 *
 * The end of a log may be after the last record that can be read (markers of transactions): a
 * partition whose reader has reached the end is over too. */
#include "broker/kafka/kafka_peek.h"

#include <assert.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/kafka/consume/pointer_queue.h"
#include "broker/kafka/consume/kafka_follow.h"
#include "broker/kafka/kafka_message.h"

enum {
    /* A cluster that is silent for so long is unreachable; shorter than librdkafka's own limit
       (socket.timeout.ms), whose error names another cause. */
    KAFKA_PEEK_SILENCE_MS = 8 * 1000,
    /* Following a pointer starts again with each call, and takes several requests: the time for it
       doubles up to this while there is no answer. */
    KAFKA_PEEK_FOLLOW_MS = 4 * 1000,
};

struct place {
    int64_t begin, end; /* offsets; end is behind the last one */
    bool over;
};

struct kafka_peek {
    struct peek peek;
    struct clock *clock;
    struct arena arena; /* the texts of url */
    struct kafka_url url;
    rd_kafka_t *client; /* NULL: not made */
    struct kafka_follow follow;
    struct pointer_queue pointers; /* read, and not returned yet: a pointer is to be followed */
    int64_t follow_ms;             /* … for so long in one call */
    struct err missed;             /* why pointers were left out; no text: none was */
    struct place *places;
    size_t place_count;     /* partitions; 0: not found yet */
    size_t measured, over;  /* of those */
    struct mono last_heard; /* of the last progress */
    struct err last;        /* the last error of a connection */
    bool down;              /* … and so did all the others */
};

/* ---- time ---- */

static int left_ms(const struct kafka_peek *kafka, struct mono until) {
    int64_t left = until.ms - clock_now(kafka->clock).mono.ms;
    return left > 0 ? (int)left : 0;
}

static void note_progress(struct kafka_peek *kafka) {
    kafka->last_heard = clock_now(kafka->clock).mono;
    kafka->last = (struct err){STATUS_OK, ""};
    kafka->down = false;
}

/* TIMEOUT until the limit, then the error. Why a broker was not reached says more than that the
 * time is over. */
static enum status not_yet(const struct kafka_peek *kafka, struct err *err) {
    struct mono now = clock_now(kafka->clock).mono;
    bool over = kafka->down || kafka->last.status == STATUS_FORBIDDEN; /* and stays so */
    if (!over && now.ms - kafka->last_heard.ms < KAFKA_PEEK_SILENCE_MS)
        return STATUS_TIMEOUT;
    if (!kafka->last.text[0])
        return kafka_client_trouble(&kafka->url, RD_KAFKA_RESP_ERR__TIMED_OUT, NULL, err);
    if (err)
        *err = kafka->last;
    return kafka->last.status;
}

/* ---- the client ---- */

static void on_error(rd_kafka_t *client, int code, const char *detail, void *arg) {
    struct kafka_peek *kafka = arg;
    (void)client;
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        kafka->down = true;
    else
        kafka_client_trouble(&kafka->url, code, detail, &kafka->last);
}

static bool open_client(struct kafka_peek *kafka, struct err *err) {
    static const struct kafka_client_setting settings[] = {
        {"group.id", "impound-peek"}, /* librdkafka wants one; `assign` does not join it */
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"auto.offset.reset", "earliest"}, /* records that were deleted meanwhile are skipped */
        {"allow.auto.create.topics", "false"},
        {"queued.max.messages.kbytes", "16384"},
    };
    if (kafka->client)
        return true;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_error_cb(conf, on_error);
    kafka->client = kafka_client_new(RD_KAFKA_CONSUMER, &kafka->url, settings,
                                     sizeof settings / sizeof *settings, conf, kafka, err);
    if (kafka->client)
        rd_kafka_poll_set_consumer(kafka->client);
    return kafka->client != NULL;
}

/* ---- what there is ---- */

static enum status find_partitions(struct kafka_peek *kafka, struct mono until, struct err *err) {
    enum status status = kafka_client_probe(kafka->client, &kafka->url, left_ms(kafka, until),
                                            &kafka->place_count, err);
    if (status == STATUS_UNREACHABLE) {
        rd_kafka_message_t *none = rd_kafka_consumer_poll(kafka->client, 0); /* serves on_error */
        if (none)
            rd_kafka_message_destroy(none);
        return not_yet(kafka, err);
    }
    if (status != STATUS_OK)
        return status;
    kafka->places = memory_array(kafka->place_count, sizeof *kafka->places);
    note_progress(kafka);
    return STATUS_OK;
}

static enum status measure(struct kafka_peek *kafka, struct mono until, struct err *err) {
    while (kafka->measured < kafka->place_count) {
        struct place *place = &kafka->places[kafka->measured];
        int ms = left_ms(kafka, until);
        rd_kafka_resp_err_t code =
            ms > 0 ? rd_kafka_query_watermark_offsets(kafka->client, kafka->url.topic.ptr,
                                                      (int32_t)kafka->measured, &place->begin,
                                                      &place->end, ms)
                   : RD_KAFKA_RESP_ERR__TIMED_OUT;
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
            return not_yet(kafka, err); /* a partition may be without a leader for a while */
        place->over = place->begin >= place->end;
        kafka->over += place->over;
        kafka->measured++;
        note_progress(kafka);
    }
    return STATUS_OK;
}

static enum status assign(struct kafka_peek *kafka, struct err *err) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (size_t i = 0; i < kafka->place_count; i++)
        if (!kafka->places[i].over)
            rd_kafka_topic_partition_list_add(list, kafka->url.topic.ptr, (int32_t)i)->offset =
                kafka->places[i].begin;
    rd_kafka_resp_err_t code = rd_kafka_assign(kafka->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? STATUS_OK
                                              : kafka_client_trouble(&kafka->url, code, NULL, err);
}

/* ---- reading ---- */

static void end_place(struct kafka_peek *kafka, int32_t partition) {
    struct place *place = &kafka->places[partition];
    if (place->over)
        return;
    place->over = true;
    kafka->over++;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, kafka->url.topic.ptr, partition);
    rd_kafka_pause_partitions(kafka->client, list); /* later records belong to the next pass */
    rd_kafka_topic_partition_list_destroy(list);
}

/* One record of the pass; NULL: it is none. */
static struct message *take(struct kafka_peek *kafka, const rd_kafka_message_t *record) {
    struct message *held = NULL;
    struct kafka_head head;
    const struct place *place = &kafka->places[record->partition];
    if (!place->over && record->offset < place->end) {
        kafka_message_head(kafka->url.topic, record->partition, &head);
        held = kafka_message_new(record, &head, NULL);
    }
    if (record->offset + 1 >= place->end)
        end_place(kafka, record->partition);
    return held;
}

static enum status read_one(struct kafka_peek *kafka, int wait_ms, struct message **out,
                            struct err *err) {
    rd_kafka_message_t *record = rd_kafka_consumer_poll(kafka->client, wait_ms);
    enum status status = STATUS_OK;
    if (!record)
        return STATUS_TIMEOUT;
    bool ours = record->partition >= 0 && (size_t)record->partition < kafka->place_count;
    if (record->err == RD_KAFKA_RESP_ERR_NO_ERROR && ours)
        *out = take(kafka, record);
    else if (record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && ours)
        end_place(kafka, record->partition);
    else if (record->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        status =
            kafka_client_trouble(&kafka->url, record->err, rd_kafka_message_errstr(record), err);
    rd_kafka_message_destroy(record);
    if (status == STATUS_OK)
        note_progress(kafka);
    return status;
}

/* Until there are enough, or librdkafka has no more. */
static enum status read_some(struct kafka_peek *kafka, struct message **out, size_t max,
                             size_t *count, struct mono until, struct err *err) {
    enum status status = STATUS_OK;
    while (*count < max && kafka->over < kafka->place_count && status == STATUS_OK) {
        struct message *held = NULL;
        status = read_one(kafka, *count > 0 ? 0 : left_ms(kafka, until), &held, err);
        if (held)
            out[(*count)++] = held;
        if (status == STATUS_OK && *count == 0 && left_ms(kafka, until) == 0)
            status = STATUS_TIMEOUT;
    }
    if (*count > 0) /* further trouble is reported by the next call */
        return STATUS_OK;
    return status == STATUS_TIMEOUT ? not_yet(kafka, err) : status;
}

/* ---- pointers ---- */

/* Records before the first pointer are returned; the rest waits until it is followed. */
static size_t set_aside(struct kafka_peek *kafka, struct message *const *held, size_t count) {
    struct kafka_inflight_record *records = memory_array(count, sizeof *records);
    for (size_t i = 0; i < count; i++)
        records[i] = (struct kafka_inflight_record){.held = held[i]};
    size_t clear = pointer_queue_begin(&kafka->pointers, records, count);
    free(records);
    return clear;
}

/* A pointer that cannot be followed is left out. So that it hides none of the records after it, the
 * pass goes on, and fails at its end. Further pointers are tried once then. */
static void leave_out(struct kafka_peek *kafka, const struct err *err) {
    int64_t silent_ms = clock_now(kafka->clock).mono.ms - kafka->last_heard.ms;
    bool is_answer = err->status == STATUS_FORBIDDEN; /* until the permission is granted */
    if (!kafka->missed.text[0] && !is_answer && silent_ms < KAFKA_PEEK_SILENCE_MS)
        return;
    if (!kafka->missed.text[0])
        kafka->missed = *err;
    pointer_queue_drop(&kafka->pointers);
    note_progress(kafka);
}

static enum status follow(struct kafka_peek *kafka, struct message **out, size_t max, size_t *count,
                          struct err *err) {
    struct pointer_queue *pointers = &kafka->pointers;
    struct mono until = mono_after(clock_now(kafka->clock).mono, kafka->follow_ms);
    enum status status = kafka_follow_some(&kafka->follow, pointers->records, pointers->count,
                                           kafka->clock, until, err);
    if (status == STATUS_OK) {
        note_progress(kafka);
    } else {
        kafka->follow_ms = duration_doubled(kafka->follow_ms, KAFKA_PEEK_FOLLOW_MS);
        leave_out(kafka, err);
    }
    size_t clear = pointer_queue_clear(pointers);
    *count = clear < max ? clear : max;
    for (size_t i = 0; i < *count; i++)
        out[i] = pointers->records[i].held;
    pointer_queue_leave(pointers, *count);
    return *count > 0 ? STATUS_OK : STATUS_TIMEOUT;
}

/* Everything was returned, but for what was left out. */
static enum status finish(const struct kafka_peek *kafka, struct err *err) {
    if (!kafka->missed.text[0])
        return STATUS_OK;
    *err = kafka->missed;
    return kafka->missed.status;
}

/* ---- the outside ---- */

static enum status open_pass(struct kafka_peek *kafka, struct mono until, struct err *err) {
    if (!open_client(kafka, err))
        return STATUS_INVALID;
    return kafka->place_count == 0 ? find_partitions(kafka, until, err) : STATUS_OK;
}

static struct mono until_of(const struct kafka_peek *kafka) {
    return mono_after(clock_now(kafka->clock).mono, PEEK_WAIT_MS);
}

/* A missing permission may be granted later, so it is not FORBIDDEN. */
static enum status harmless(enum status status) {
    return status == STATUS_FORBIDDEN ? STATUS_UNREACHABLE : status;
}

static enum status begin(struct peek *peek, struct err *err) {
    struct kafka_peek *kafka = CONTAINER_OF(peek, struct kafka_peek, peek);
    return harmless(open_pass(kafka, until_of(kafka), err));
}

static enum status next(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err) {
    struct kafka_peek *kafka = CONTAINER_OF(peek, struct kafka_peek, peek);
    struct mono until = until_of(kafka);
    enum status status = open_pass(kafka, until, err);
    *count = 0;
    if (status == STATUS_OK && kafka->measured < kafka->place_count) {
        status = measure(kafka, until, err);
        if (status == STATUS_OK)
            status = assign(kafka, err);
    }
    if (status == STATUS_OK && kafka->pointers.count == 0) {
        status = read_some(kafka, out, max, count, until, err);
        *count = set_aside(kafka, out, *count);
    }
    if (status == STATUS_OK && *count == 0)
        status =
            kafka->pointers.count > 0 ? follow(kafka, out, max, count, err) : finish(kafka, err);
    return harmless(status);
}

static void peek_free(struct peek *peek) {
    struct kafka_peek *kafka = CONTAINER_OF(peek, struct kafka_peek, peek);
    if (kafka->client) {
        rd_kafka_consumer_close(kafka->client);
        rd_kafka_destroy(kafka->client);
    }
    kafka_follow_close(&kafka->follow);
    pointer_queue_free(&kafka->pointers);
    arena_free(&kafka->arena);
    free(kafka->places);
    free(kafka);
}

static const struct peek_vtable vtable = {.begin = begin, .next = next, .free = peek_free};

struct peek *kafka_peek_new(const struct broker_options *options) {
    struct kafka_peek *kafka = memory_new(sizeof *kafka);
    kafka->peek.vtable = &vtable;
    kafka->clock = options->clock;
    arena_init_heap(&kafka->arena, URL_TEXT_MAX);
    enum status status = kafka_url_peek(options->url, &kafka->arena, &kafka->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    kafka->follow = (struct kafka_follow){.url = &kafka->url};
    kafka->follow_ms = PEEK_WAIT_MS;
    note_progress(kafka);
    return &kafka->peek;
}
