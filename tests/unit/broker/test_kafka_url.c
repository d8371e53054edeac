#include "broker/kafka/kafka_url.h"
#include "url_case.h"

static void every_part_of_a_source_is_read(void **state) {
    (void)state;
    struct kafka_url url;
    assert_int_equal(
        kafka_url_source(BYTES("kafkas://me:p%40ss@b1:9093,b2,[::1]:7/orders.v1?group=pricing"
                               "&session=6s&sasl=SCRAM-SHA-512&ca=/etc/ca.pem"),
                         &arena, &url, NULL),
        STATUS_OK);
    assert_true(url.tls);
    assert_bytes(url.servers, "b1:9093,b2:9092,[::1]:7");
    assert_bytes(url.topic, "orders.v1");
    assert_bytes(url.group, "pricing");
    assert_bytes(url.user, "me");
    assert_bytes(url.password, "p@ss");
    assert_bytes(url.mechanism, "SCRAM-SHA-512");
    assert_bytes(url.ca_file, "/etc/ca.pem");
    assert_int_equal(url.session_ms, 6000);
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    struct kafka_url url;
    assert_int_equal(kafka_url_source(BYTES("kafka://h/t?group=g"), &arena, &url, NULL), STATUS_OK);
    assert_false(url.tls);
    assert_bytes(url.servers, "h:9092");
    assert_null(url.user.ptr);
    assert_bytes(url.mechanism, "PLAIN");
    assert_int_equal(url.session_ms, KAFKA_URL_SESSION_MS);
    assert_int_equal(kafka_url_sink(BYTES("kafka://h/t"), &arena, &url, NULL), STATUS_OK);
    assert_bytes(url.topic, "t");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        const char *url, *words;
    } cases[] = {
        {"kafka://h/t", "no group"},
        {"kafka://h/t?group=", "group"},
        {"kafka://h?group=g", "expected a topic"},
        {"kafka://h/a/b?group=g", "expected a topic"},
        {"kafka://h/..?group=g", "expected a topic"},
        {"kafka://me@h/t?group=g", "go together"},
        {"kafka://h/t?group=g&session=1ms", "session"},
        {"kafka://h/t?group=g&session=6m", "session"},
        {"kafka://h/t?group=g&sasl=GSSAPI", "SCRAM-SHA-256"},
        {"kafka://h/t?group=g&ca=x.pem", "only kafkas://"},
        {"kafka://h/t?group=g&key=x", "key"},
        {"amqp://h/t?group=g", "kafka://"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kafka_url url;
        struct err err;
        assert_said(kafka_url_source(bytes_of(cases[i].url), &arena, &url, &err), cases[i].url,
                    &err, cases[i].words);
    }
}

static void what_is_only_looked_at_needs_no_group(void **state) {
    (void)state;
    struct kafka_url url;
    struct err err;
    assert_taken(kafka_url_peek(BYTES("kafka://h/t"), &arena, &url, &err), "topic", &err);
    assert_bytes(url.topic, "t");
    assert_int_equal(url.group.len, 0);
    assert_int_equal(kafka_url_check_peek(BYTES("kafka://h/t?group=g"), &err), STATUS_OK);
    assert_said(kafka_url_check_peek(BYTES("kafka://h/t?ca=x.pem"), &err), "ca", &err,
                "only kafkas://");
}

static void a_topic_leaves_room_for_partition_and_offset_in_an_id(void **state) {
    (void)state;
    char text[512] = "kafka://h/";
    struct kafka_url url;
    size_t start = strlen(text);
    memset(text + start, 't', KAFKA_URL_TOPIC_MAX);
    assert_int_equal(kafka_url_sink(bytes_of(text), &arena, &url, NULL), STATUS_OK);
    text[start + KAFKA_URL_TOPIC_MAX] = 't';
    assert_int_equal(kafka_url_sink(bytes_of(text), &arena, &url, NULL), STATUS_INVALID);
    assert_true(KAFKA_URL_TOPIC_MAX + strlen("/2147483647/9223372036854775807") <= 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_a_source_is_read),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_is_only_looked_at_needs_no_group),
        cmocka_unit_test(a_topic_leaves_room_for_partition_and_offset_in_an_id),
    };
    return cmocka_run_group_tests_name("kafka_url", tests, set_up, tear_down);
}
