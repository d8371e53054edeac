#include "test.h"

#include "broker/nats/stream/nats_ack.h"

static void both_forms_are_read(void **state) {
    (void)state;
    static const struct {
        const char *reply, *domain;
    } cases[] = {
        {"$JS.ACK.ORDERS.pricing.3.884201.17.1700000000123456789.42", ""},
        {"$JS.ACK._.acchash.ORDERS.pricing.3.884201.17.1700000000123456789.42", ""},
        {"$JS.ACK.hub.acchash.ORDERS.pricing.3.884201.17.1700000000123456789.42", "hub"},
        {"$JS.ACK.hub.acchash.ORDERS.pricing.3.884201.17.1700000000123456789.42.x7Gh", "hub"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_ack ack;
        assert_true(nats_ack_parse(bytes_of(cases[i].reply), &ack));
        assert_bytes(ack.domain, cases[i].domain);
        assert_bytes(ack.stream, "ORDERS");
        assert_bytes(ack.consumer, "pricing");
        assert_int_equal(ack.delivered, 3);
        assert_int_equal(ack.sequence, 884201);
        assert_int_equal(ack.stored_at.ms, 1700000000123);
        assert_int_equal(ack.pending, 42);
    }
}

static void what_is_no_such_subject_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "_INBOX.x.pull",
        "$JS.ACK.ORDERS.pricing.3.1.1.1",
        "$JS.ACK.ORDERS.pricing.3.1.1.1.0.more",
        "$JS.NAK.ORDERS.pricing.3.1.1.1.0",
        "$JS.ACK.ORDERS.pricing.x.1.1.1.0",
        "$JS.ACK..pricing.3.1.1.1.0",
        "$JS.ACK.a.b.c.d.e.f.g.h.i.j.k.l.m",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_ack ack;
        assert_false(nats_ack_parse(bytes_of(cases[i]), &ack));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_are_read),
        cmocka_unit_test(what_is_no_such_subject_is_refused),
    };
    return cmocka_run_group_tests_name("nats_ack", tests, NULL, NULL);
}
