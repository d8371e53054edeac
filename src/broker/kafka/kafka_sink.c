/* Items are given to librdkafka, which sends them in batches and calls back with the outcome of
 * each. librdkafka tries again by itself for as long as KAFKA_DELIVERY_MS; an item that
 * failed then may be in the topic all the same, and is published again. */
#include "broker/kafka/kafka_sink.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/common/connection_state.h"
#include "broker/common/sink_thread.h"
#include "broker/kafka/kafka_client.h"
#include "broker/kafka/kafka_peek.h"

#define KAFKA_DELIVERY_MS "10000"

enum {
    KAFKA_SINK_SLEEP_MS = 1000, /* librdkafka must be polled regularly */
    KAFKA_SINK_CLOSE_MS = 1000,
    KAFKA_SINK_CONNECT_MS = 10000, /* for check --connect */
    KAFKA_SINK_NULLS_MAX = 2048,   /* names of headers that had no value */
};

struct kafka_sink {
    struct sink_thread thread;
    struct kafka_url url;

    /* The thread's own. */
    struct connection_state state;
    rd_kafka_t *client; /* NULL: not made */
    bool broken;        /* librdkafka gave up on this client */
    struct err last;    /* the last error of a broker connection */
};

static struct kafka_sink *kafka_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct kafka_sink, thread.sink);
}

/* ---- what becomes of an item ---- */

/* A message that the topic refuses is no trouble with the cluster. */
static void fail(struct kafka_sink *kafka, struct sink_item *item, const struct err *err) {
    if (err->status == STATUS_UNREACHABLE || err->status == STATUS_FORBIDDEN)
        connection_state_lost(&kafka->state, clock_now(kafka->thread.clock).mono, err);
    item->done(item, err->status, err);
}

static void on_delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *arg) {
    (void)client;
    struct kafka_sink *kafka = arg;
    struct sink_item *item = message->_private;
    struct err err;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka->last = (struct err){STATUS_OK, ""};
        if (!kafka->state.health.connected)
            connection_state_made(&kafka->state, clock_now(kafka->thread.clock).mono);
        item->done(item, STATUS_OK, NULL);
        return;
    }
    kafka_client_trouble(&kafka->url, message->err, NULL, &err);
    /* Why a broker was not reached says more than that the time is over. */
    fail(kafka, item,
         err.status == STATUS_UNREACHABLE && kafka->last.text[0] ? &kafka->last : &err);
}

static void on_error(rd_kafka_t *client, int code, const char *detail, void *arg) {
    (void)client;
    struct kafka_sink *kafka = arg;
    kafka->broken |= code == RD_KAFKA_RESP_ERR__FATAL;
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        kafka_client_trouble(&kafka->url, code, detail, &kafka->last);
}

/* ---- the client ---- */

static void on_event(rd_kafka_t *client, void *arg) {
    (void)client;
    sink_thread_wake(arg);
}

static bool open_client(struct kafka_sink *kafka, struct err *err) {
    static const struct kafka_client_setting settings[] = {
        {"enable.idempotence", "true"},
        {"message.timeout.ms", KAFKA_DELIVERY_MS},
        /* A topic that is unknown for so long does not exist: */
        {"topic.metadata.propagation.max.ms", "3000"},
        {"message.max.bytes", "67108864"}, /* the topic has a limit of its own */
        {"queue.buffering.max.kbytes", "65536"},
        {"partitioner", "murmur2_random"}, /* as Java's clients do */
    };
    if (kafka->client)
        return true;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivered);
    rd_kafka_conf_set_error_cb(conf, on_error);
    kafka->client = kafka_client_new(RD_KAFKA_PRODUCER, &kafka->url, settings,
                                     sizeof settings / sizeof *settings, conf, kafka, err);
    if (!kafka->client)
        return false;
    rd_kafka_queue_t *events = rd_kafka_queue_get_main(kafka->client);
    rd_kafka_queue_cb_event_enable(events, on_event, &kafka->thread);
    rd_kafka_queue_destroy(events);
    return true;
}

/* Everything that is under way fails. */
static void close_client(struct kafka_sink *kafka) {
    if (!kafka->client)
        return;
    rd_kafka_purge(kafka->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(kafka->client, KAFKA_SINK_CLOSE_MS);
    rd_kafka_destroy(kafka->client);
    kafka->client = NULL;
    kafka->broken = false;
}

/* ---- publishing ---- */

struct destination {
    const char *topic;
    int32_t partition;
    bool tombstone;
    struct bytes *null_headers; /* their names */
    size_t null_count;
};

/* Dead letters of other systems may not name the partition: the producer chooses one then. */
static bool read_partition(struct json origin, int32_t *out) {
    struct json member;
    int64_t number = RD_KAFKA_PARTITION_UA;
    if (json_get(origin, "partition", &member) && !json_i64(member, &number))
        return false;
    *out = (int32_t)number;
    return number >= RD_KAFKA_PARTITION_UA && number <= INT32_MAX;
}

static void read_nulls(struct json origin, struct arena *arena, struct destination *out) {
    struct json names;
    if (!json_get(origin, "null_headers", &names) || names.type != JSON_ARRAY)
        return;
    out->null_headers = arena_alloc(arena, KAFKA_SINK_NULLS_MAX * sizeof *out->null_headers);
    for (struct json_walk walk = json_walk(names);
         out->null_count < KAFKA_SINK_NULLS_MAX && json_step(&walk);)
        out->null_count +=
            json_string(walk.value, arena, &out->null_headers[out->null_count]) ? 1 : 0;
}

/* The origin of a message, as kafka_message.c wrote it. */
static bool read_origin(const struct sink_item *item, struct arena *arena,
                        struct destination *out) {
    struct json origin, member;
    struct bytes topic;
    if (json_parse(item->origin, &origin, NULL) != STATUS_OK ||
        !json_get(origin, "topic", &member) || !json_string(member, arena, &topic) ||
        !read_partition(origin, &out->partition))
        return false;
    out->topic = arena_cstr(arena, topic);
    out->tombstone = json_get(origin, "tombstone", &member) && item->body.len == 0;
    read_nulls(origin, arena, out);
    return true;
}

static bool has_content_type(const struct sink_item *item) {
    for (size_t i = 0; i < item->header_count; i++)
        if (bytes_eq_nocase(item->headers[i].name, BYTES("content-type")))
            return true;
    return false;
}

static bool is_null(const struct rule_header *header, const struct destination *to) {
    for (size_t i = 0; header->value.len == 0 && i < to->null_count; i++)
        if (bytes_eq(to->null_headers[i], header->name))
            return true;
    return false;
}

/* A message that returns to its origin is unchanged; elsewhere a header names its content type. */
static rd_kafka_headers_t *make_headers(const struct sink_item *item,
                                        const struct destination *to) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(item->header_count + 1);
    for (size_t i = 0; i < item->header_count; i++) {
        const struct rule_header *header = &item->headers[i];
        const char *value = header->value.ptr ? header->value.ptr : "";
        rd_kafka_header_add(headers, header->name.ptr, (ssize_t)header->name.len,
                            is_null(header, to) ? NULL : value, (ssize_t)header->value.len);
    }
    if (item->origin.len == 0 && item->content_type.len > 0 && !has_content_type(item))
        rd_kafka_header_add(headers, "content-type", -1, item->content_type.ptr,
                            (ssize_t)item->content_type.len);
    return headers;
}

static rd_kafka_resp_err_t produce(struct kafka_sink *kafka, struct sink_item *item,
                                   const struct destination *to) {
    bool tombstone = to->tombstone || !item->body.ptr;
    rd_kafka_headers_t *headers = make_headers(item, to);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        kafka->client, RD_KAFKA_V_TOPIC(to->topic), RD_KAFKA_V_PARTITION(to->partition),
        RD_KAFKA_V_VALUE((void *)(tombstone ? NULL : item->body.ptr), item->body.len),
        RD_KAFKA_V_KEY(item->key.ptr, item->key.len), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_OPAQUE(item), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_headers_destroy(headers);
    return code;
}

static void publish_item(struct kafka_sink *kafka, struct sink_item *item) {
    struct arena arena;
    struct err err = {STATUS_OK, ""};
    struct destination to = {.topic = kafka->url.topic.ptr, .partition = RD_KAFKA_PARTITION_UA};
    arena_init_heap(&arena, KAFKA_URL_TOPIC_MAX);
    if (item->origin.len > 0 && !read_origin(item, &arena, &to)) {
        err_set(&err, STATUS_INVALID,
                "kafka: the message names no topic and partition to return to");
        fail(kafka, item, &err);
    } else if (!open_client(kafka, &err)) {
        fail(kafka, item, &err);
    } else {
        rd_kafka_resp_err_t code = produce(kafka, item, &to);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            kafka_client_trouble(&kafka->url, code, NULL, &err);
            fail(kafka, item, &err);
        }
    }
    arena_free(&arena);
}

static size_t publish(struct sink *sink, struct sink_item **items, size_t count) {
    for (size_t i = 0; i < count; i++)
        publish_item(kafka_of(sink), items[i]);
    return count;
}

static struct mono rest(struct sink *sink) {
    struct kafka_sink *kafka = kafka_of(sink);
    if (kafka->client)
        rd_kafka_poll(kafka->client, 0);
    if (kafka->broken)
        close_client(kafka);
    return kafka->client ? mono_after(clock_now(kafka->thread.clock).mono, KAFKA_SINK_SLEEP_MS)
                         : MONO_NEVER;
}

static void end(struct sink *sink) {
    close_client(kafka_of(sink));
}

/* ---- the outside ---- */

static void kafka_free(struct sink *sink) {
    struct kafka_sink *kafka = kafka_of(sink);
    sink_thread_free(&kafka->thread);
    connection_state_free(&kafka->state);
    free(kafka);
}

static const struct sink_vtable vtable = {
    .kind = "kafka", .publish = sink_thread_publish, .free = kafka_free};

static const struct sink_thread_work work = {
    .name = "kafka-sink", .publish = publish, .rest = rest, .end = end};

enum status kafka_sink_check(struct bytes url, struct err *err) {
    struct kafka_url parsed;
    return kafka_url_sink(url, NULL, &parsed, err);
}

enum status kafka_sink_connect(const struct sink_options *options, struct err *err) {
    struct broker_options look = {.url = options->url, .clock = options->clock, .quiet = true};
    struct peek *peek = kafka_peek_new(&look);
    enum status status = peek_begin_within(peek, options->clock, KAFKA_SINK_CONNECT_MS, err);
    peek->vtable->free(peek);
    return status;
}

struct sink *kafka_sink_new(const struct sink_options *options) {
    struct kafka_sink *kafka = memory_new(sizeof *kafka);
    struct arena *arena = &kafka->thread.arena;
    sink_thread_init(&kafka->thread, &vtable, &work, options);
    enum status status = options->source ? kafka_url_peek(options->url, arena, &kafka->url, NULL)
                                         : kafka_url_sink(options->url, arena, &kafka->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    connection_state_init(&kafka->state, BYTES("sink kafka"), options->seed);
    sink_thread_start(&kafka->thread);
    return &kafka->thread.sink;
}
