/* A Kafka node that runs already: tests/e2e/test_56_kafka.py starts it, and this with
 * KAFKA_ADDRESS. Each lane is a topic of one partition with a group of its name. The node's death
 * is played there, too. */
#include "test.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <unistd.h>

#include "broker/kafka/kafka_peek.h"
#include "broker/kafka/kafka_source.h"
#include "broker_subject.h"

enum { ANSWER_MS = 60 * 1000, LOOK_MS = 100 };

static const char *address;
static rd_kafka_t *client; /* produces, and asks */
static unsigned lane;
static char topic[64];

static rd_kafka_t *client_new(rd_kafka_type_t type, const char *group) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", address, why, sizeof why);
    if (group)
        rd_kafka_conf_set(conf, "group.id", group, why, sizeof why);
    rd_kafka_t *made = rd_kafka_new(type, conf, why, sizeof why);
    if (!made)
        fail_msg("%s", why);
    return made;
}

static bool start(void) {
    address = getenv("KAFKA_ADDRESS");
    if (!address)
        return false;
    client = client_new(RD_KAFKA_PRODUCER, NULL);
    return true;
}

static void stop(void) {
    rd_kafka_destroy(client);
}

/* Whether the node has been told of the topic, which is a moment after it was made. Asked of the
 * node itself each time: librdkafka would remember for long that it was not there. */
static bool is_there(void) {
    const struct rd_kafka_metadata *told;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    rd_kafka_resp_err_t code = rd_kafka_metadata(client, 0, handle, &told, ANSWER_MS);
    rd_kafka_topic_destroy(handle);
    assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    const struct rd_kafka_metadata_topic *found = &told->topics[0];
    bool there = told->topic_cnt == 1 && found->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
                 found->partition_cnt == 1 && found->partitions[0].leader >= 0;
    rd_kafka_metadata_destroy(told);
    return there;
}

static void next(void) {
    char why[256];
    snprintf(topic, sizeof topic, "contract-%u", ++lane);
    rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(topic, 1, 1, why, sizeof why);
    rd_kafka_queue_t *answers = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, &wanted, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, ANSWER_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_NewTopic_destroy(wanted);
    for (int tries = 0; !is_there(); tries++) {
        assert_true(tries < ANSWER_MS / LOOK_MS);
        usleep(LOOK_MS * 1000);
    }
}

/* Flushed, so that it is there for whoever asks. */
static void push(struct bytes body) {
    rd_kafka_resp_err_t code =
        rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)body.ptr, body.len), RD_KAFKA_V_END);
    assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(client, ANSWER_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

static size_t left(void) {
    int64_t low, high;
    rd_kafka_t *asks = client_new(RD_KAFKA_CONSUMER, topic);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0);
    assert_int_equal(rd_kafka_committed(asks, list, ANSWER_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_query_watermark_offsets(asks, topic, 0, &low, &high, ANSWER_MS),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    int64_t done = list->elems[0].offset > low ? list->elems[0].offset : low;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(asks);
    return (size_t)(high - done);
}

static void url(char *out, size_t size) {
    snprintf(out, size, "kafka://%s/%s?group=%s", address, topic, topic);
}

const struct broker_subject broker_subject = {
    .kind = "kafka",
    .one_position = true,
    .start = start,
    .stop = stop,
    .next = next,
    .url = url,
    .check = kafka_source_check,
    .source = kafka_source_new,
    .peek = kafka_peek_new,
    .look_names = true,
    .look_all = true,
    .push = push,
    .left = left,
};
