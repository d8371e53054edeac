#include "test.h"

#include "broker/nats/stream/nats_consumer.h"

static enum status read_text(const char *text, struct nats_consumer *out, struct err *err) {
    struct json info;
    assert_int_equal(json_parse(bytes_of(text), &info, NULL), STATUS_OK);
    return nats_consumer_read(info, out, err);
}

static void counts_and_patience_are_read(void **state) {
    (void)state;
    struct nats_consumer consumer;
    assert_int_equal(read_text("{\"config\":{\"ack_policy\":\"explicit\",\"ack_wait\":5000000000},"
                               "\"num_pending\":7,\"num_ack_pending\":3}",
                               &consumer, NULL),
                     STATUS_OK);
    assert_int_equal(consumer.pending, 7);
    assert_int_equal(consumer.ack_pending, 3);
    assert_int_equal(consumer.ack_wait_ms, 5000);
}

static void limits_of_a_pull_are_read(void **state) {
    (void)state;
    struct nats_consumer consumer;
    assert_int_equal(read_text("{\"config\":{\"ack_policy\":\"explicit\",\"max_batch\":10,"
                               "\"max_expires\":250000000}}",
                               &consumer, NULL),
                     STATUS_OK);
    assert_int_equal(consumer.max_batch, 10);
    assert_int_equal(consumer.max_expires_ns, 250000000);
    read_text("{\"config\":{\"ack_policy\":\"explicit\"}}", &consumer, NULL);
    assert_int_equal(consumer.max_batch, 0);
    assert_int_equal(consumer.max_expires_ns, 0);
}

static void the_shortest_backoff_is_the_patience(void **state) {
    (void)state;
    struct nats_consumer consumer;
    assert_int_equal(read_text("{\"config\":{\"ack_policy\":\"explicit\",\"ack_wait\":9000000000,"
                               "\"backoff\":[2000000000,1000000000,60000000000]}}",
                               &consumer, NULL),
                     STATUS_OK);
    assert_int_equal(consumer.ack_wait_ms, 1000);
    assert_int_equal(read_text("{\"config\":{\"ack_policy\":\"explicit\"}}", &consumer, NULL),
                     STATUS_OK);
    assert_int_equal(consumer.ack_wait_ms, 30000);
}

static void what_would_lose_messages_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *info, *words;
    } cases[] = {
        {"{}", "no consumer configuration"},
        {"{\"config\":{}}", "not said"},
        {"{\"config\":{\"ack_policy\":\"none\"}}", "any other than explicit"},
        {"{\"config\":{\"ack_policy\":\"explicit\",\"deliver_subject\":\"x\"}}",
         "a pull consumer is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_consumer consumer;
        struct err err;
        assert_int_equal(read_text(cases[i].info, &consumer, &err), STATUS_INVALID);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].info, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_patience_are_read),
        cmocka_unit_test(limits_of_a_pull_are_read),
        cmocka_unit_test(the_shortest_backoff_is_the_patience),
        cmocka_unit_test(what_would_lose_messages_is_refused),
    };
    return cmocka_run_group_tests_name("nats_consumer", tests, NULL, NULL);
}
