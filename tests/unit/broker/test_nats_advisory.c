#include "test.h"

#include "broker/nats/stream/nats_advisory.h"

static bool read_text(const char *text, struct arena *arena, struct nats_advisory *out) {
    struct json advisory;
    assert_int_equal(json_parse(bytes_of(text), &advisory, NULL), STATUS_OK);
    return nats_advisory_read(advisory, arena, out);
}

static void only_what_tells_of_a_message_given_up_is_one(void **state) {
    (void)state;
    static const struct {
        const char *subject;
        bool is;
    } cases[] = {
        {"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.ORDERS.pricing", true},
        {"$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.ORDERS.pricing", true},
        {"$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED.ORDERS.pricing", false},
        {"$JS.EVENT.ADVISORY.CONSUMER.DELETED.ORDERS.pricing", false},
        {"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES", false},
        {"orders.$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.ORDERS.pricing", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(nats_advisory_is(bytes_of(cases[i].subject)), cases[i].is);
}

static void it_says_which_message(void **state) {
    (void)state;
    struct arena arena;
    struct nats_advisory advisory;
    arena_init_heap(&arena, 512);
    assert_true(read_text("{\"type\":\"io.nats.jetstream.advisory.v1.max_deliver\",\"id\":\"x\","
                          "\"timestamp\":\"2026-11-15T14:14:36.680878814Z\",\"stream\":\"ORDERS\","
                          "\"consumer\":\"pricing\",\"stream_seq\":884201,\"deliveries\":5,"
                          "\"domain\":\"hub\"}",
                          &arena, &advisory));
    assert_bytes(advisory.coordinates.stream, "ORDERS");
    assert_bytes(advisory.coordinates.consumer, "pricing");
    assert_bytes(advisory.domain, "hub");
    assert_int_equal(advisory.coordinates.sequence, 884201);
    assert_int_equal(advisory.coordinates.delivered, 5);
    arena_free(&arena);
}

static void what_names_no_message_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "{}",
        "[]",
        "{\"stream\":\"O\",\"consumer\":\"c\"}",
        "{\"stream\":\"O\",\"consumer\":\"c\",\"stream_seq\":0}",
        "{\"stream\":\"O\",\"consumer\":\"c\",\"stream_seq\":-1}",
        "{\"stream\":\"O\",\"consumer\":\"c\",\"stream_seq\":\"1\"}",
        "{\"stream\":\"O.*\",\"consumer\":\"c\",\"stream_seq\":1}",
        "{\"stream\":\"\",\"consumer\":\"c\",\"stream_seq\":1}",
        "{\"stream\":1,\"consumer\":\"c\",\"stream_seq\":1}",
    };
    struct arena arena;
    struct nats_advisory advisory;
    arena_init_heap(&arena, 512);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(read_text(cases[i], &arena, &advisory));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_tells_of_a_message_given_up_is_one),
        cmocka_unit_test(it_says_which_message),
        cmocka_unit_test(what_names_no_message_is_refused),
    };
    return cmocka_run_group_tests_name("nats_advisory", tests, NULL, NULL);
}
