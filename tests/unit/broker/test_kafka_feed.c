/* Records behind pointers, read from the cluster that librdkafka brings for tests. */
#include "broker/kafka/consume/kafka_feed.h"

#include "test.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdlib.h>

enum {
    PARTITIONS = 8,
    RECORDS = 70, /* behind the pointer of each partition */
    RECORD_BYTES = 64 * 1024,
    PATIENCE_MS = 600 * 1000,
    READ_MS = 100,
    /* The limit, and one batch that goes beyond it. */
    BYTES_MAX = KAFKA_INFLIGHT_BYTES_MAX + RECORDS * RECORD_BYTES + PARTITIONS * RECORD_BYTES,
};

struct rig {
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *mock;
    struct kafka_url url;
    struct kafka_inflight inflight;
    struct connection_state state;
    struct kafka_group group;
};

static void fill(const char *servers) {
    static char body[RECORD_BYTES];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, NULL, 0);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    for (int i = 0; i < PARTITIONS * (RECORDS + 1); i++) {
        bool is_pointer = i < PARTITIONS;
        rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
        rd_kafka_header_add(headers, "__dlq.errors.topic", -1, "elsewhere", -1);
        rd_kafka_header_add(headers, "__dlq.errors.partition", -1, "0", -1);
        rd_kafka_header_add(headers, "__dlq.errors.offset", -1, "0", -1);
        rd_kafka_resp_err_t code = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC("many"), RD_KAFKA_V_PARTITION(i % PARTITIONS),
            RD_KAFKA_V_VALUE(is_pointer ? NULL : body, is_pointer ? 0 : sizeof body),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
        assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(rd_kafka_flush(producer, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(producer);
}

static void open_rig(struct rig *rig) {
    rig->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    rig->mock = rd_kafka_mock_cluster_new(rig->host, 1);
    const char *servers = rd_kafka_mock_cluster_bootstraps(rig->mock);
    rd_kafka_mock_topic_create(rig->mock, "many", PARTITIONS, 1);
    fill(servers);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, NULL, 0);
    rd_kafka_conf_set(conf, "group.id", "readers", NULL, 0);
    rig->url = (struct kafka_url){.topic = BYTES("many")};
    kafka_inflight_init(&rig->inflight);
    connection_state_init(&rig->state, BYTES("queue q: kafka"), 7);
    rig->group = (struct kafka_group){.url = &rig->url,
                                      .inflight = &rig->inflight,
                                      .state = &rig->state,
                                      .client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, NULL, 0),
                                      .feeds = calloc(PARTITIONS, sizeof(struct kafka_feed)),
                                      .feed_count = PARTITIONS};
    rd_kafka_poll_set_consumer(rig->group.client);
}

static void close_rig(struct rig *rig) {
    for (size_t i = 0; i < PARTITIONS; i++) {
        pointer_queue_free(&rig->group.feeds[i].pointers);
        rd_kafka_queue_destroy(rig->group.feeds[i].queue);
    }
    free(rig->group.feeds);
    rd_kafka_consumer_close(rig->group.client);
    rd_kafka_destroy(rig->group.client);
    connection_state_free(&rig->state);
    kafka_inflight_free(&rig->inflight);
    rd_kafka_mock_cluster_destroy(rig->mock);
    rd_kafka_destroy(rig->host);
}

/* All of them lie in librdkafka's queues. */
static void read_ahead(struct rig *rig) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int32_t i = 0; i < PARTITIONS; i++) {
        struct kafka_feed *feed = &rig->group.feeds[i];
        rd_kafka_topic_partition_list_add(list, "many", i)->offset = 0;
        feed->queue = rd_kafka_queue_get_partition(rig->group.client, "many", i);
        rd_kafka_queue_forward(feed->queue, NULL);
        kafka_message_head(BYTES("many"), i, &feed->head);
        kafka_inflight_assign(&rig->inflight, i);
    }
    assert_int_equal(rd_kafka_assign(rig->group.client, list), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    for (int waited = 0, i = 0; i < PARTITIONS; waited += READ_MS) {
        assert_null(rd_kafka_consumer_poll(rig->group.client, READ_MS));
        assert_true(waited < PATIENCE_MS);
        while (i < PARTITIONS && rd_kafka_queue_length(rig->group.feeds[i].queue) > RECORDS)
            i++;
    }
}

static void what_waits_behind_pointers_is_bounded_and_no_partition_is_left_out(void **state) {
    (void)state;
    struct rig rig;
    uint64_t bytes = 0;
    open_rig(&rig);
    read_ahead(&rig);
    while (kafka_feed_read(&rig.group))
        ;
    for (size_t i = 0; i < PARTITIONS; i++) {
        const struct pointer_queue *pointers = &rig.group.feeds[i].pointers;
        assert_true(pointers->count > 0);
        bytes += pointer_queue_bytes(pointers);
    }
    assert_in_range(bytes, KAFKA_INFLIGHT_BYTES_MAX, BYTES_MAX);
    close_rig(&rig);
}

/* ThreadSanitizer does not know threads made with C11's thrd_create, which librdkafka's are. */
#ifdef __SANITIZE_THREAD__
enum { SKIPPED = 77, UNDER_TSAN = 1 };
#else
enum { SKIPPED = 77, UNDER_TSAN = 0 };
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_behind_pointers_is_bounded_and_no_partition_is_left_out),
    };
    return UNDER_TSAN ? SKIPPED : cmocka_run_group_tests_name("kafka_feed", tests, NULL, NULL);
}
