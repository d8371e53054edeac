/* A look at a cluster that is not there: it is told why as soon as that is known. Time stands still
 * there, so that no patience ever ends. And at one that librdkafka brings for tests, with pointers.
 */
#include "broker/kafka/kafka_peek.h"

#include "test.h"

#include <stdio.h>
#include <time.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

enum {
    TRIES_MAX = 60,
    PATIENCE_MS = 600 * 1000,
    SLOW_MS = 300, /* of each answer: not enough are there within PEEK_WAIT_MS */
    AT_ONCE = 8,
    BODIES_SIZE = 256,
};

static struct instant no_time_passes(struct clock *clock) {
    (void)clock;
    return (struct instant){{1763182181123}, {1000}};
}
static struct clock test_clock = {.now = no_time_passes};

/* Both ways to begin. */
static enum status look(struct peek *peek, bool begin, struct err *err) {
    struct message *held[1];
    size_t count;
    return begin ? peek->vtable->begin(peek, err) : peek->vtable->next(peek, held, 1, &count, err);
}

static void why_no_broker_can_be_reached_is_told_at_once(void **state) {
    (void)state;
    for (int begin = 0; begin < 2; begin++) {
        struct err err = {STATUS_OK, ""};
        enum status status = STATUS_TIMEOUT;
        struct peek *peek = kafka_peek_new(
            &(struct broker_options){.url = BYTES("kafka://127.0.0.1:1,127.0.0.1:2/dead"),
                                     .queue = BYTES("legacy"),
                                     .clock = &test_clock});
        for (size_t i = 0; i < TRIES_MAX && status == STATUS_TIMEOUT; i++)
            status = look(peek, begin, &err);
        peek->vtable->free(peek);
        assert_int_equal(status, STATUS_UNREACHABLE);
        assert_non_null(strstr(err.text, "no broker can be reached"));
        assert_non_null(strstr(err.text, "refused"));
    }
}

/* ---- pointers ---- */

static int64_t skipped_ms; /* time that passed for us alone */

static struct instant machine_now(struct clock *clock) {
    struct timespec wall, mono;
    (void)clock;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    return (struct instant){{(int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000},
                            {(int64_t)mono.tv_sec * 1000 + mono.tv_nsec / 1000000 + skipped_ms}};
}
static struct clock machine = {.now = machine_now};

struct cluster {
    rd_kafka_t *host, *producer;
    rd_kafka_mock_cluster_t *mock;
    struct peek *peek;
};

/* With records in two topics that pointers of a third tell of. */
static void open_cluster(struct cluster *cluster) {
    cluster->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    cluster->mock = rd_kafka_mock_cluster_new(cluster->host, 1);
    const char *servers = rd_kafka_mock_cluster_bootstraps(cluster->mock);
    rd_kafka_mock_topic_create(cluster->mock, "dead", 1, 1);
    rd_kafka_mock_topic_create(cluster->mock, "orders", 1, 1);
    rd_kafka_mock_topic_create(cluster->mock, "secret", 1, 1);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, NULL, 0);
    cluster->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    char url[512];
    snprintf(url, sizeof url, "kafka://%s/dead", servers);
    cluster->peek = kafka_peek_new(&(struct broker_options){
        .url = bytes_of(url), .queue = BYTES("legacy"), .clock = &machine});
}

static void close_cluster(struct cluster *cluster) {
    cluster->peek->vtable->free(cluster->peek);
    rd_kafka_destroy(cluster->producer);
    rd_kafka_mock_cluster_destroy(cluster->mock);
    rd_kafka_destroy(cluster->host);
}

static void produce(struct cluster *cluster, const char *topic, const char *body,
                    rd_kafka_headers_t *headers_take) {
    rd_kafka_resp_err_t code =
        rd_kafka_producev(cluster->producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)body, body ? strlen(body) : 0),
                          RD_KAFKA_V_HEADERS(headers_take), RD_KAFKA_V_END);
    assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(cluster->producer, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* To the first record of a topic. */
static void point(struct cluster *cluster, const char *topic) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    rd_kafka_header_add(headers, "__dlq.errors.topic", -1, topic, -1);
    rd_kafka_header_add(headers, "__dlq.errors.partition", -1, "0", -1);
    rd_kafka_header_add(headers, "__dlq.errors.offset", -1, "0", -1);
    produce(cluster, "dead", NULL, headers);
}

/* The whole pass: the bodies that it gave, each with a space behind it, and how it ended. Each time
 * that there is nothing yet, so much time passes. */
static enum status pass(struct cluster *cluster, int64_t skip_ms, char bodies[BODIES_SIZE],
                        struct err *err) {
    struct buf text;
    enum status status = STATUS_TIMEOUT;
    size_t count = 0;
    buf_init_fixed(&text, bodies, BODIES_SIZE - 1);
    *err = (struct err){STATUS_OK, ""};
    while (status == STATUS_TIMEOUT || count > 0) {
        struct message *held[AT_ONCE];
        status = cluster->peek->vtable->next(cluster->peek, held, AT_ONCE, &count, err);
        for (size_t i = 0; i < count; i++) {
            buf_bytes(&text, held[i]->body);
            buf_str(&text, " ");
            message_free(held[i]);
        }
        skipped_ms += status == STATUS_TIMEOUT ? skip_ms : 0;
    }
    bodies[text.len] = '\0';
    return status;
}

static void a_pointer_is_followed_however_long_each_answer_takes(void **state) {
    (void)state;
    struct cluster cluster;
    struct err err;
    char bodies[BODIES_SIZE];
    open_cluster(&cluster);
    produce(&cluster, "orders", "order", NULL);
    point(&cluster, "orders");
    rd_kafka_mock_broker_set_rtt(cluster.mock, 1, SLOW_MS);
    assert_int_equal(pass(&cluster, 0, bodies, &err), STATUS_OK);
    assert_string_equal(bodies, "order ");
    close_cluster(&cluster);
}

/* Before, between and behind those that can be. */
static void leave_out(rd_kafka_resp_err_t code, enum status expected) {
    struct cluster cluster;
    struct err err;
    char bodies[BODIES_SIZE];
    open_cluster(&cluster);
    produce(&cluster, "orders", "order", NULL);
    produce(&cluster, "secret", "secret", NULL);
    rd_kafka_mock_topic_set_error(cluster.mock, "secret", code);
    produce(&cluster, "dead", "1", NULL);
    point(&cluster, "secret");
    produce(&cluster, "dead", "2", NULL);
    point(&cluster, "orders");
    for (int i = 0; i < 2 * AT_ONCE; i++)
        point(&cluster, "secret");
    produce(&cluster, "dead", "3", NULL);
    assert_int_equal(pass(&cluster, PEEK_WAIT_MS, bodies, &err), expected);
    assert_string_equal(bodies, "1 2 order 3 ");
    assert_non_null(strstr(err.text, "secret"));
    close_cluster(&cluster);
}

static void a_pointer_that_cannot_be_followed_hides_nothing_but_fails_the_pass(void **state) {
    (void)state;
    leave_out(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, STATUS_UNREACHABLE);
    leave_out(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, STATUS_BUSY);
}

/* ThreadSanitizer does not know threads made with C11's thrd_create, which librdkafka's are. */
#ifdef __SANITIZE_THREAD__
enum { SKIPPED = 77, UNDER_TSAN = 1 };
#else
enum { SKIPPED = 77, UNDER_TSAN = 0 };
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_no_broker_can_be_reached_is_told_at_once),
        cmocka_unit_test(a_pointer_is_followed_however_long_each_answer_takes),
        cmocka_unit_test(a_pointer_that_cannot_be_followed_hides_nothing_but_fails_the_pass),
    };
    return UNDER_TSAN ? SKIPPED : cmocka_run_group_tests_name("kafka_peek", tests, NULL, NULL);
}
