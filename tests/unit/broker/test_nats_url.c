#include "broker/nats/nats_url.h"
#include "url_case.h"

typedef enum status parse_fn(struct bytes text, struct arena *arena, struct nats_url *out,
                             struct err *err);

static struct nats_url parsed(parse_fn *parse, const char *text) {
    struct nats_url url;
    struct err err = {STATUS_OK, ""};
    assert_taken(parse(bytes_of(text), &arena, &url, &err), text, &err);
    return url;
}

static void every_part_is_read(void **state) {
    (void)state;
    struct nats_url url = parsed(
        nats_url_source, "tls://me:p%40ss@a.example:1,b.example?stream=ORDERS&consumer=pricing"
                         "&domain=hub&creds=/u.creds&ca=/ca.pem&cert=/c.pem&key=/k.pem");
    assert_true(url.tls);
    assert_int_equal(url.host_count, 2);
    assert_int_equal(url.hosts[0].port, 1);
    assert_bytes(url.hosts[1].name, "b.example");
    assert_int_equal(url.hosts[1].port, 4222);
    assert_bytes(url.user, "me");
    assert_bytes(url.password, "p@ss");
    assert_bytes(url.stream, "ORDERS");
    assert_bytes(url.consumer, "pricing");
    assert_bytes(url.domain, "hub");
    assert_bytes(url.creds_file, "/u.creds");
    assert_bytes(url.ca_file, "/ca.pem");
    assert_bytes(url.cert_file, "/c.pem");
    assert_bytes(url.key_file, "/k.pem");
}

static void a_user_alone_is_a_token(void **state) {
    (void)state;
    struct nats_url url = parsed(nats_url_sink, "nats://t0ken@h?subject=orders.new");
    assert_false(url.tls);
    assert_bytes(url.user, "t0ken");
    assert_null(url.password.ptr);
    assert_bytes(url.subject, "orders.new");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        parse_fn *parse;
        const char *url, *words;
    } cases[] = {
        {nats_url_source, "amqp://h?stream=S&consumer=c", "nats://"},
        {nats_url_source, "nats://h", "?stream=NAME&consumer=NAME"},
        {nats_url_source, "nats://h?stream=S", "?stream=NAME&consumer=NAME"},
        {nats_url_source, "nats://h/x?stream=S&consumer=c", "between the host and the ?"},
        {nats_url_source, "nats://h?stream=a.b&consumer=c", "the name of a stream"},
        {nats_url_source, "nats://h?stream=S&consumer=*", "the name of a durable pull consumer"},
        {nats_url_source, "nats://h?stream=S&consumer=c&subject=s", "subject"},
        {nats_url_source, "nats://h?stream=S&consumer=c&ca=/x", "only tls://"},
        {nats_url_source, "tls://h?stream=S&consumer=c&key=/x", "go together"},
        {nats_url_peek, "nats://h?consumer=c", "expected ?stream=NAME"},
        {nats_url_peek, "nats://h?stream=S&ca=/x", "only tls://"},
        {nats_url_sink, "nats://h", "?subject=NAME"},
        {nats_url_sink, "nats://h?subject=a..b", "without wildcards"},
        {nats_url_sink, "nats://h?subject=a.>", "without wildcards"},
        {nats_url_sink, "nats://h?subject=a%20b", "without wildcards"},
        {nats_url_sink, "nats://h?subject=a.", "without wildcards"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nats_url url;
        struct err err = {STATUS_OK, ""};
        assert_said(cases[i].parse(bytes_of(cases[i].url), &arena, &url, &err), cases[i].url, &err,
                    cases[i].words);
    }
}

static void what_is_only_looked_at_needs_no_consumer(void **state) {
    (void)state;
    struct nats_url url;
    struct err err;
    assert_taken(nats_url_peek(BYTES("nats://h?stream=S"), &arena, &url, &err), "stream", &err);
    assert_bytes(url.stream, "S");
    assert_int_equal(url.consumer.len, 0);
    assert_int_equal(nats_url_check_peek(BYTES("nats://h?stream=S"), &err), STATUS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_read),
        cmocka_unit_test(a_user_alone_is_a_token),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_is_only_looked_at_needs_no_consumer),
    };
    return cmocka_run_group_tests_name("nats_url", tests, set_up, tear_down);
}
