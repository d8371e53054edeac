/* Pointers followed, or not, in the cluster that librdkafka brings for tests. */
#include "broker/kafka/consume/kafka_follow.h"

#include "test.h"

#include <librdkafka/rdkafka_mock.h>

#include "broker/kafka/kafka_pointer.h"

enum { PATIENCE_MS = 600 * 1000, SLICE_MS = 1000 };

static struct instant machine_now(struct clock *clock) {
    struct timespec wall, mono;
    (void)clock;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    return (struct instant){{(int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000},
                            {(int64_t)mono.tv_sec * 1000 + mono.tv_nsec / 1000000}};
}

/* … while the clocks of waiting go on. */
static struct instant nothing_gets_older(struct clock *clock) {
    static struct wall begun;
    struct instant now = machine_now(clock);
    if (begun.ms == 0)
        begun = now.wall;
    now.wall = begun;
    return now;
}

static struct clock machine = {.now = machine_now};

struct cluster {
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *mock;
    struct arena arena;
    struct kafka_url url;
    struct kafka_follow follow;
};

static void open_cluster_of(struct cluster *cluster, int brokers) {
    char url[512];
    cluster->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    cluster->mock = rd_kafka_mock_cluster_new(cluster->host, brokers);
    rd_kafka_mock_topic_create(cluster->mock, "orders", 2, 1);
    snprintf(url, sizeof url, "kafka://%s/dlq.orders",
             rd_kafka_mock_cluster_bootstraps(cluster->mock));
    arena_init_heap(&cluster->arena, 1024);
    assert_int_equal(kafka_url_peek(bytes_of(url), &cluster->arena, &cluster->url, NULL),
                     STATUS_OK);
    cluster->follow = (struct kafka_follow){.url = &cluster->url};
}

static void open_cluster(struct cluster *cluster) {
    open_cluster_of(cluster, 1);
}

static void close_cluster(struct cluster *cluster) {
    kafka_follow_close(&cluster->follow);
    arena_free(&cluster->arena);
    rd_kafka_mock_cluster_destroy(cluster->mock);
    rd_kafka_destroy(cluster->host);
}

static void produce(struct cluster *cluster, int32_t partition, size_t count) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", cluster->url.servers.ptr, NULL, 0);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        char body[32];
        int len = snprintf(body, sizeof body, "%d:%zu", (int)partition, i);
        rd_kafka_resp_err_t code =
            rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("orders"), RD_KAFKA_V_PARTITION(partition),
                              RD_KAFKA_V_VALUE(body, (size_t)len),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(rd_kafka_flush(producer, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(producer);
}

/* A pointer, as a record is given. */
static struct kafka_inflight_record point(const char *topic, int partition, int64_t offset) {
    struct message *held = message_new();
    struct rule_header *headers = arena_alloc(&held->arena, 3 * sizeof *headers);
    char number[32];
    headers[0] =
        (struct rule_header){BYTES("__dlq.errors.topic"), arena_dup(&held->arena, bytes_of(topic))};
    snprintf(number, sizeof number, "%d", partition);
    headers[1] = (struct rule_header){BYTES("__dlq.errors.partition"),
                                      arena_dup(&held->arena, bytes_of(number))};
    snprintf(number, sizeof number, "%lld", (long long)offset);
    headers[2] = (struct rule_header){BYTES("__dlq.errors.offset"),
                                      arena_dup(&held->arena, bytes_of(number))};
    held->envelope.id = BYTES("dlq.orders/0/0");
    held->envelope.source = BYTES("{\"kind\":\"kafka\",\"tombstone\":true}");
    held->envelope.headers = headers;
    held->envelope.header_count = 3;
    held->body = BYTES("");
    return (struct kafka_inflight_record){.held = held};
}

static enum status follow_within(struct cluster *cluster, struct kafka_inflight_record *records,
                                 size_t count, int64_t ms, struct err *err) {
    return kafka_follow_some(&cluster->follow, records, count, &machine,
                             mono_after(machine_now(NULL).mono, ms), err);
}

/* Where an answer comes, however slow the machine is. */
static enum status follow_once(struct cluster *cluster, struct kafka_inflight_record *records,
                               size_t count, struct err *err) {
    return follow_within(cluster, records, count, PATIENCE_MS, err);
}

static bool are_pointers_left(const struct kafka_inflight_record *records, size_t count) {
    struct kafka_pointer to;
    for (size_t i = 0; i < count; i++)
        if (kafka_pointer_read(records[i].held, &to))
            return true;
    return false;
}

/* Until all are answered. */
static void follow(struct cluster *cluster, struct kafka_inflight_record *records, size_t count) {
    struct mono until = mono_after(machine_now(NULL).mono, PATIENCE_MS);
    struct err err;
    while (are_pointers_left(records, count)) {
        follow_within(cluster, records, count, SLICE_MS, &err);
        assert_true(machine_now(NULL).mono.ms < until.ms);
    }
}

static void assert_gone(const struct message *held, const char *words) {
    struct json source, origin, member;
    assert_int_equal(json_parse(held->envelope.source, &source, NULL), STATUS_OK);
    assert_true(json_get(source, "origin", &origin) && json_get(origin, "gone", &member));
    assert_true(json_get(origin, "why", &member));
    assert_true(bytes_find(member.text, bytes_of(words)) < member.text.len);
    assert_int_equal(held->body.len, 0);
}

static void free_all(struct kafka_inflight_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        message_free(records[i].held);
}

static void each_pointer_finds_its_own_record(void **state) {
    (void)state;
    enum { COUNT = 40 }; /* more than in one go */
    struct cluster cluster;
    struct kafka_inflight_record records[COUNT];
    open_cluster(&cluster);
    produce(&cluster, 0, 1000);
    produce(&cluster, 1, 10);
    for (int i = 0; i < COUNT; i++) /* to and fro, near and far, and twice the same */
        records[i] = i % 3 ? point("orders", 0, (i * 307) % 1000) : point("orders", 1, i % 4);
    follow(&cluster, records, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char body[32];
        snprintf(body, sizeof body, "%d:%d", i % 3 ? 0 : 1, i % 3 ? (i * 307) % 1000 : i % 4);
        assert_bytes(records[i].held->body, body);
    }
    free_all(records, COUNT);
    close_cluster(&cluster);
}

static void what_the_cluster_does_not_have_is_gone(void **state) {
    (void)state;
    struct cluster cluster;
    open_cluster(&cluster);
    produce(&cluster, 0, 3);
    rd_kafka_mock_topic_create(cluster.mock, "nowhere", 1, 1);
    rd_kafka_mock_topic_set_error(cluster.mock, "nowhere", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    struct kafka_inflight_record records[] = {point("orders", 0, 3), point("nowhere", 0, 0),
                                              point("orders", 2, 0), point("orders", 0, 2),
                                              point("orders", 0, 900)};
    follow(&cluster, records, 5);
    assert_gone(records[0].held, "partition 0 of topic orders ends at offset 3");
    assert_gone(records[1].held, "topic nowhere: there is no such topic");
    assert_gone(records[2].held, "topic orders: there is no such partition");
    assert_bytes(records[3].held->body, "0:2");
    assert_gone(records[4].held, "ends at offset 3");
    free_all(records, 5);
    close_cluster(&cluster);
}

/* Somebody may allow it yet. */
static void what_is_not_allowed_to_us_stays_a_pointer(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err = {STATUS_OK, ""};
    open_cluster(&cluster);
    produce(&cluster, 0, 1);
    rd_kafka_mock_topic_set_error(cluster.mock, "orders",
                                  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    struct kafka_inflight_record one = point("orders", 0, 0);
    assert_int_equal(follow_once(&cluster, &one, 1, &err), STATUS_FORBIDDEN);
    assert_true(are_pointers_left(&one, 1));
    rd_kafka_mock_topic_set_error(cluster.mock, "orders", RD_KAFKA_RESP_ERR_NO_ERROR);
    follow(&cluster, &one, 1);
    assert_bytes(one.held->body, "0:0");
    message_free(one.held);
    close_cluster(&cluster);
}

/* Though the other would be asked for first by its name. */
static void a_pointer_that_cannot_be_followed_does_not_hold_up_one_before_it(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err = {STATUS_OK, ""};
    open_cluster(&cluster);
    produce(&cluster, 0, 1);
    assert_int_equal(rd_kafka_mock_topic_create(cluster.mock, "aaa", 1, 1), 0);
    rd_kafka_mock_topic_set_error(cluster.mock, "aaa", RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    struct kafka_inflight_record two[] = {point("orders", 0, 0), point("aaa", 0, 0)};
    assert_int_equal(follow_once(&cluster, two, 2, &err), STATUS_OK);
    assert_bytes(two[0].held->body, "0:0");
    assert_true(are_pointers_left(&two[1], 1));
    message_free(two[0].held);
    message_free(two[1].held);
    close_cluster(&cluster);
}

/* Wherever it stands: of several places, each is read by itself. */
static void a_broker_that_is_away_holds_up_no_record_of_another(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err;
    open_cluster_of(&cluster, 2);
    rd_kafka_mock_partition_set_leader(cluster.mock, "orders", 0, 1);
    rd_kafka_mock_partition_set_leader(cluster.mock, "orders", 1, 2);
    produce(&cluster, 0, 2);
    produce(&cluster, 1, 1);
    rd_kafka_mock_broker_set_down(cluster.mock, 2);
    struct kafka_inflight_record records[] = {point("orders", 1, 0), point("orders", 0, 1)};
    struct mono until = mono_after(machine_now(NULL).mono, PATIENCE_MS);
    while (are_pointers_left(&records[1], 1)) {
        assert_int_equal(follow_within(&cluster, records, 2, SLICE_MS, &err), STATUS_UNREACHABLE);
        assert_true(machine_now(NULL).mono.ms < until.ms);
    }
    assert_bytes(records[1].held->body, "0:1");
    assert_true(are_pointers_left(&records[0], 1));
    free_all(records, 2);
    close_cluster(&cluster);
}

static void that_a_partition_has_no_leader_is_said(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err = {STATUS_OK, ""};
    open_cluster(&cluster);
    produce(&cluster, 0, 1);
    rd_kafka_mock_partition_set_leader(cluster.mock, "orders", 0, -1);
    struct kafka_inflight_record one = point("orders", 0, 0);
    assert_int_equal(follow_once(&cluster, &one, 1, &err), STATUS_BUSY);
    assert_non_null(strstr(err.text, "Leader not available"));
    assert_true(are_pointers_left(&one, 1));
    rd_kafka_mock_partition_set_leader(cluster.mock, "orders", 0, 1);
    follow(&cluster, &one, 1);
    assert_bytes(one.held->body, "0:0");
    message_free(one.held);
    close_cluster(&cluster);
}

/* It is as it was, and is followed once there is an answer. */
static void without_an_answer_a_pointer_stays_one(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err = {STATUS_OK, ""};
    open_cluster(&cluster);
    produce(&cluster, 0, 1);
    struct kafka_inflight_record one = point("orders", 0, 0);
    rd_kafka_mock_topic_set_error(cluster.mock, "orders", RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    assert_int_not_equal(follow_within(&cluster, &one, 1, SLICE_MS, &err), STATUS_OK);
    assert_true(err.text[0]);
    assert_true(are_pointers_left(&one, 1));
    rd_kafka_mock_topic_set_error(cluster.mock, "orders", RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_mock_broker_set_down(cluster.mock, 1);
    assert_int_equal(follow_within(&cluster, &one, 1, SLICE_MS, &err), STATUS_UNREACHABLE);
    assert_true(are_pointers_left(&one, 1));
    rd_kafka_mock_broker_set_up(cluster.mock, 1);
    follow(&cluster, &one, 1);
    assert_bytes(one.held->body, "0:0");
    message_free(one.held);
    close_cluster(&cluster);
}

/* Its topic may be so new that the broker which was asked has not heard of it. */
static void a_topic_that_is_missing_to_a_young_pointer_is_asked_for_again(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err = {STATUS_OK, ""};
    open_cluster(&cluster);
    produce(&cluster, 0, 1);
    struct kafka_inflight_record one = point("orders", 0, 0);
    rd_kafka_mock_topic_set_error(cluster.mock, "orders", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    one.held->envelope.created_at = machine_now(NULL).wall;
    machine.now = nothing_gets_older;
    assert_int_equal(follow_once(&cluster, &one, 1, &err), STATUS_NOT_FOUND);
    assert_true(are_pointers_left(&one, 1));
    rd_kafka_mock_topic_set_error(cluster.mock, "orders", RD_KAFKA_RESP_ERR_NO_ERROR);
    follow(&cluster, &one, 1);
    machine.now = machine_now;
    assert_bytes(one.held->body, "0:0");
    message_free(one.held);
    close_cluster(&cluster);
}

/* ThreadSanitizer does not know threads made with C11's thrd_create, which librdkafka's are. */
#ifdef __SANITIZE_THREAD__
enum { SKIPPED = 77, UNDER_TSAN = 1 };
#else
enum { SKIPPED = 77, UNDER_TSAN = 0 };
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pointer_finds_its_own_record),
        cmocka_unit_test(what_the_cluster_does_not_have_is_gone),
        cmocka_unit_test(what_is_not_allowed_to_us_stays_a_pointer),
        cmocka_unit_test(a_pointer_that_cannot_be_followed_does_not_hold_up_one_before_it),
        cmocka_unit_test(a_broker_that_is_away_holds_up_no_record_of_another),
        cmocka_unit_test(that_a_partition_has_no_leader_is_said),
        cmocka_unit_test(without_an_answer_a_pointer_stays_one),
        cmocka_unit_test(a_topic_that_is_missing_to_a_young_pointer_is_asked_for_again),
    };
    return UNDER_TSAN ? SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
