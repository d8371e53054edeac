/* Sink and source against the cluster that librdkafka brings for tests: what is published comes
 * back byte for byte. */
#include "test.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>

#include "base/thread/mailbox.h"
#include "broker/kafka/kafka_sink.h"
#include "broker/kafka/kafka_source.h"
#include "port/clock.h"

static _Atomic unsigned clock_reads; /* every turn of the source's thread is at least one */

static struct instant machine_now(struct clock *clock) {
    struct timespec wall, mono;
    clock_reads += clock != NULL;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    return (struct instant){{(int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000},
                            {(int64_t)mono.tv_sec * 1000 + mono.tv_nsec / 1000000}};
}

static struct clock machine = {.now = machine_now};

struct cluster {
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *mock;
    char url[512];
};

static void open_cluster(struct cluster *cluster, const char *tail) {
    cluster->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    cluster->mock = rd_kafka_mock_cluster_new(cluster->host, 1);
    rd_kafka_mock_topic_create(cluster->mock, "orders", 2, 1);
    snprintf(cluster->url, sizeof cluster->url, "kafka://%s/orders%s",
             rd_kafka_mock_cluster_bootstraps(cluster->mock), tail);
}

static void close_cluster(struct cluster *cluster) {
    rd_kafka_mock_cluster_destroy(cluster->mock);
    rd_kafka_destroy(cluster->host);
}

/* ---- publishing ---- */

struct delivery {
    struct sink_item item;
    struct mailbox *wakeup;
    struct err err;
    _Atomic bool answered;
};

static void on_done(struct sink_item *item, enum status status, const struct err *err) {
    struct delivery *delivery = (struct delivery *)(void *)item;
    delivery->err = err ? *err : (struct err){status, ""};
    delivery->answered = true;
    mailbox_ring(delivery->wakeup);
}

static void publish(struct sink *sink, struct delivery *delivery) {
    struct mailbox wakeup;
    mailbox_init(&wakeup);
    delivery->wakeup = &wakeup;
    delivery->item.done = on_done;
    sink->vtable->publish(sink, &delivery->item);
    while (!delivery->answered)
        mailbox_wait(&wakeup, MONO_NEVER);
    mailbox_free(&wakeup);
}

static struct sink *new_sink(const struct cluster *cluster) {
    struct err err = {STATUS_OK, ""};
    assert_int_equal(kafka_sink_check(bytes_of(cluster->url), &err), STATUS_OK);
    return kafka_sink_new(
        &(struct sink_options){.url = bytes_of(cluster->url), .clock = &machine, .seed = 1});
}

/* ---- receiving ---- */

static void on_ready(void *arg) {
    mailbox_ring(arg);
}

struct consumer {
    struct broker *broker;
    struct mailbox wakeup;
};

static void open_consumer(struct consumer *consumer, const char *url) {
    struct broker_options options = {.url = bytes_of(url),
                                     .queue = BYTES("orders"),
                                     .instance = BYTES("test"),
                                     .clock = &machine,
                                     .seed = 1};
    mailbox_init(&consumer->wakeup);
    assert_int_equal(kafka_source_check(options.url, NULL), STATUS_OK);
    consumer->broker = kafka_source_new(&options);
    consumer->broker->vtable->listen(consumer->broker, on_ready, &consumer->wakeup);
}

static void close_consumer(struct consumer *consumer) {
    consumer->broker->vtable->free(consumer->broker);
    mailbox_free(&consumer->wakeup);
}

static struct message *await_message(struct consumer *consumer) {
    struct message *held;
    while (consumer->broker->vtable->receive(consumer->broker, machine_now(NULL), &held, 1) == 0)
        mailbox_wait(&consumer->wakeup, MONO_NEVER);
    return held;
}

static void settle(struct consumer *consumer, struct message *held) {
    consumer->broker->vtable->settle(consumer->broker, held);
    message_free(held);
}

/* ---- tests ---- */

static const struct rule_header odd_headers[] = {
    {{"a", 1}, {"1", 1}},
    {{"a", 1}, {"\xff\x00\xfe", 3}},
    {{"none", 4}, {"", 0}},
};

#define ODD_COUNT (sizeof odd_headers / sizeof *odd_headers)

static void assert_same(struct bytes a, struct bytes b) {
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.len ? a.ptr : "", b.len ? b.ptr : "", a.len);
}

static void every_byte_comes_back(void **state) {
    (void)state;
    struct cluster cluster;
    struct consumer consumer;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    struct delivery delivery = {.item = {.body = {"\x00\xff body", 7},
                                         .content_type = BYTES("application/x-order"),
                                         .headers = odd_headers,
                                         .header_count = ODD_COUNT}};
    publish(sink, &delivery);
    assert_int_equal(delivery.err.status, STATUS_OK);
    strcat(cluster.url, "?group=readers");
    open_consumer(&consumer, cluster.url);
    struct message *held = await_message(&consumer);
    assert_same(held->body, delivery.item.body);
    assert_null(held->envelope.key.ptr);
    assert_int_equal(held->envelope.header_count, ODD_COUNT + 1);
    for (size_t i = 0; i < ODD_COUNT; i++) {
        assert_same(held->envelope.headers[i].name, odd_headers[i].name);
        assert_same(held->envelope.headers[i].value, odd_headers[i].value);
    }
    assert_bytes(held->envelope.content_type, "application/x-order");
    assert_true(held->envelope.created_at.ms > 0);
    settle(&consumer, held);
    close_consumer(&consumer);
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

static void a_message_goes_back_to_where_it_came_from_as_it_was(void **state) {
    (void)state;
    struct cluster cluster;
    struct consumer consumer;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    static const char source[] = "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":1,"
                                 "\"offset\":0,\"null_headers\":[\"none\"],\"tombstone\":true}";
    const struct rule_header headers[] = {
        {BYTES("none"), BYTES("")}, {BYTES("empty"), BYTES("")}, {BYTES("none"), BYTES("edited")}};
    struct delivery delivery = {.item = {.key = BYTES("k"),
                                         .body = BYTES(""),
                                         .headers = headers,
                                         .header_count = 3,
                                         .content_type = BYTES("application/json"),
                                         .origin = BYTES(source)}};
    publish(sink, &delivery);
    assert_int_equal(delivery.err.status, STATUS_OK);
    strcat(cluster.url, "?group=readers");
    open_consumer(&consumer, cluster.url);
    struct message *held = await_message(&consumer);
    assert_bytes(held->envelope.id, "orders/1/0");
    assert_bytes(held->envelope.source, source);
    assert_bytes(held->envelope.key, "k");
    assert_int_equal(held->body.len, 0);
    assert_int_equal(held->envelope.header_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(bytes_eq(held->envelope.headers[i].name, headers[i].name));
        assert_true(bytes_eq(held->envelope.headers[i].value, headers[i].value));
    }
    settle(&consumer, held);
    close_consumer(&consumer);
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

static void without_a_partition_its_key_says_where_it_goes_back_to(void **state) {
    (void)state;
    struct cluster cluster;
    struct consumer consumer;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    struct delivery first = {.item = {.key = BYTES("k"), .body = BYTES("x")}}, again = first;
    again.item.origin = BYTES("{\"kind\":\"kafka\",\"topic\":\"orders\"}");
    publish(sink, &first);
    publish(sink, &again);
    assert_int_equal(first.err.status, STATUS_OK);
    assert_int_equal(again.err.status, STATUS_OK);
    strcat(cluster.url, "?group=readers");
    open_consumer(&consumer, cluster.url);
    struct message *one = await_message(&consumer), *two = await_message(&consumer);
    struct bytes id = one->envelope.id;
    assert_bytes(bytes_cut(id, id.len - 2, id.len), "/0");
    assert_int_equal(two->envelope.id.len, id.len);
    assert_memory_equal(two->envelope.id.ptr, id.ptr, id.len - 1);
    assert_bytes(bytes_cut(two->envelope.id, id.len - 2, id.len), "/1");
    settle(&consumer, one);
    settle(&consumer, two);
    close_consumer(&consumer);
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

static void what_cannot_be_published_is_said(void **state) {
    (void)state;
    struct cluster cluster;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    struct delivery astray = {
        .item = {.body = BYTES("x"), .origin = BYTES("{\"kind\":\"redis\"}")}};
    publish(sink, &astray);
    assert_int_equal(astray.err.status, STATUS_INVALID);
    struct delivery nowhere = {
        .item = {.body = BYTES("x"), .origin = BYTES("{\"topic\":\"orders\",\"partition\":9}")}};
    publish(sink, &nowhere);
    assert_int_equal(nowhere.err.status, STATUS_NOT_FOUND);
    static const char *const impossible[] = {"4294967296", "2147483648", "-2", "\"0\""};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        char origin[64];
        snprintf(origin, sizeof origin, "{\"topic\":\"orders\",\"partition\":%s}", impossible[i]);
        struct delivery delivery = {.item = {.body = BYTES("x"), .origin = bytes_of(origin)}};
        publish(sink, &delivery);
        assert_int_equal(delivery.err.status, STATUS_INVALID);
    }
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

static void what_was_settled_does_not_come_again_and_the_rest_does(void **state) {
    (void)state;
    struct cluster cluster;
    struct consumer consumer;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    static const char *const bodies[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        struct delivery delivery = {
            .item = {.body = bytes_of(bodies[i]),
                     .origin = BYTES("{\"topic\":\"orders\",\"partition\":0}")}};
        publish(sink, &delivery);
        assert_int_equal(delivery.err.status, STATUS_OK);
    }
    strcat(cluster.url, "?group=readers&session=6s");
    open_consumer(&consumer, cluster.url);
    struct message *first = await_message(&consumer), *second = await_message(&consumer),
                   *third = await_message(&consumer);
    settle(&consumer, first);
    settle(&consumer, third);
    message_free(second);
    close_consumer(&consumer);
    open_consumer(&consumer, cluster.url);
    second = await_message(&consumer);
    assert_bytes(second->envelope.id, "orders/0/1");
    assert_true(second->redelivered);
    third = await_message(&consumer);
    assert_bytes(third->envelope.id, "orders/0/2"); /* not below the lowest unsettled one */
    message_free(second);
    message_free(third);
    close_consumer(&consumer);
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

static const struct rule_header pointing[] = {
    {{"__dlq.errors.topic", 18}, {"paid", 4}},
    {{"__dlq.errors.partition", 22}, {"0", 1}},
    {{"__dlq.errors.offset", 19}, {"0", 1}},
};

static void publish_at(struct sink *sink, const char *origin, const char *body) {
    struct delivery delivery = {.item = {.body = bytes_of(body), .origin = bytes_of(origin)}};
    if (!body[0]) {
        delivery.item.headers = pointing;
        delivery.item.header_count = sizeof pointing / sizeof *pointing;
    }
    publish(sink, &delivery);
    assert_int_equal(delivery.err.status, STATUS_OK);
}

/* What is not given cannot be settled. */
static void
a_pointer_that_cannot_be_followed_yet_waits_and_holds_up_no_other_partition(void **state) {
    (void)state;
    struct cluster cluster;
    struct consumer consumer;
    open_cluster(&cluster, "");
    rd_kafka_mock_topic_create(cluster.mock, "paid", 1, 1);
    struct sink *sink = new_sink(&cluster);
    publish_at(sink, "{\"topic\":\"paid\",\"partition\":0}", "the record");
    publish_at(sink, "{\"topic\":\"orders\",\"partition\":0,\"tombstone\":true}", "");
    publish_at(sink, "{\"topic\":\"orders\",\"partition\":0}", "behind it");
    rd_kafka_mock_topic_set_error(cluster.mock, "paid", RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    publish_at(sink, "{\"topic\":\"orders\",\"partition\":1}", "1");
    strcat(cluster.url, "?group=readers");
    open_consumer(&consumer, cluster.url);
    struct message *held = await_message(&consumer);
    assert_bytes(held->envelope.id, "orders/1/0");
    settle(&consumer, held);
    publish_at(sink, "{\"topic\":\"orders\",\"partition\":1}", "2");
    held = await_message(&consumer);
    assert_bytes(held->envelope.id, "orders/1/1");
    settle(&consumer, held);
    rd_kafka_mock_topic_set_error(cluster.mock, "paid", RD_KAFKA_RESP_ERR_NO_ERROR);
    held = await_message(&consumer);
    assert_bytes(held->envelope.id, "orders/0/0");
    assert_bytes(held->body, "the record");
    settle(&consumer, held);
    held = await_message(&consumer);
    assert_bytes(held->envelope.id, "orders/0/1");
    settle(&consumer, held);
    close_consumer(&consumer);
    sink->vtable->free(sink);
    close_cluster(&cluster);
}

/* ThreadSanitizer does not know threads made with C11's thrd_create, which librdkafka's are. */
#ifdef __SANITIZE_THREAD__
enum { SKIPPED = 77, UNDER_TSAN = 1 };
#else
enum { SKIPPED = 77, UNDER_TSAN = 0 };
#endif

/* Rung by librdkafka and by us, it would otherwise turn round as fast as it can. */
static void a_source_with_nothing_to_do_sleeps(void **state) {
    (void)state;
    enum { WATCHED_MS = 500 };
    struct cluster cluster;
    struct consumer consumer;
    struct mailbox nothing;
    open_cluster(&cluster, "");
    struct sink *sink = new_sink(&cluster);
    struct delivery delivery = {.item = {.id = BYTES("x"), .body = BYTES("1")}};
    publish(sink, &delivery);
    sink->vtable->free(sink);
    strcat(cluster.url, "?group=readers");
    open_consumer(&consumer, cluster.url);
    settle(&consumer, await_message(&consumer));
    mailbox_init(&nothing);
    struct mono from = machine_now(NULL).mono;
    unsigned before = clock_reads;
    mailbox_wait(&nothing, mono_after(from, WATCHED_MS));
    unsigned reads = clock_reads - before;
    assert_true(reads < machine_now(NULL).mono.ms - from.ms); /* we may have slept for longer */
    mailbox_free(&nothing);
    close_consumer(&consumer);
    close_cluster(&cluster);
}

int main(void) {
    if (UNDER_TSAN)
        return SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_back),
        cmocka_unit_test(a_message_goes_back_to_where_it_came_from_as_it_was),
        cmocka_unit_test(without_a_partition_its_key_says_where_it_goes_back_to),
        cmocka_unit_test(what_cannot_be_published_is_said),
        cmocka_unit_test(what_was_settled_does_not_come_again_and_the_rest_does),
        cmocka_unit_test(a_source_with_nothing_to_do_sleeps),
        cmocka_unit_test(
            a_pointer_that_cannot_be_followed_yet_waits_and_holds_up_no_other_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
