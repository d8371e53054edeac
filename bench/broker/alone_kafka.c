#include "alone.h"

#include <string.h>

#include "broker/kafka/kafka_client.h"

enum { AT_ONCE = 1024, WAIT_MS = 10 /* the last portion is not a whole one */, START_TRIES = 6000 };

/* It commits and reads ahead as the adapter does. What was given is not done before it says so. */
static const struct kafka_client_setting settings[] = {
    {"enable.auto.commit", "true"},
    {"auto.commit.interval.ms", "100"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "earliest"},
    {"queued.min.messages", "100000"},
    {"queued.max.messages.kbytes", "16384"}, /* its share for a topic of four partitions */
};

static rd_kafka_t *join(const struct kafka_url *url) {
    struct err err = {STATUS_OK, ""};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "group.id", url->group.ptr, NULL, 0);
    rd_kafka_t *client = kafka_client_new(RD_KAFKA_CONSUMER, url, settings,
                                          sizeof settings / sizeof *settings, conf, NULL, &err);
    if (!client)
        alone_die(err.text);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, url->topic.ptr, RD_KAFKA_PARTITION_UA);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_subscribe(client, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    return client;
}

/* Every byte is looked at once, and the record is acknowledged for the next commit. */
static bool handle(const rd_kafka_message_t *record) {
    return record->err == RD_KAFKA_RESP_ERR_NO_ERROR && !memchr(record->payload, 0, record->len) &&
           rd_kafka_offset_store(record->rkt, record->partition, record->offset) ==
               RD_KAFKA_RESP_ERR_NO_ERROR;
}

static size_t consume(rd_kafka_queue_t *queue) {
    rd_kafka_message_t *records[AT_ONCE];
    ssize_t got = rd_kafka_consume_batch_queue(queue, WAIT_MS, records, AT_ONCE);
    size_t good = 0;
    for (ssize_t i = 0; i < got; i++) {
        good += handle(records[i]);
        rd_kafka_message_destroy(records[i]);
    }
    return good;
}

struct alone_stretch alone_kafka(const char *text, size_t count) {
    struct err err = {STATUS_OK, ""};
    struct kafka_url url;
    struct arena arena;
    struct alone_stretch stretch = {.first = {0}};
    arena_init_heap(&arena, URL_TEXT_MAX);
    if (kafka_url_source(bytes_of(text), &arena, &url, &err) != STATUS_OK)
        alone_die(err.text);
    rd_kafka_t *client = join(&url);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(client);
    for (size_t done = 0, tries = 0; done < count; tries++) {
        size_t got = consume(queue);
        if (!done && got)
            stretch.first = alone_now();
        if (!done && tries == START_TRIES)
            alone_die("nothing comes");
        done += got;
    }
    rd_kafka_commit(client, NULL, 0);
    stretch.last = alone_now();
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    arena_free(&arena);
    return stretch;
}
