#include "broker/rabbitmq/rabbit_url.h"
#include "url_case.h"

typedef enum status parse_fn(struct bytes text, struct arena *arena, struct rabbit_url *out,
                             struct err *err);

static struct rabbit_url parsed(parse_fn *parse, const char *text) {
    struct rabbit_url url;
    struct err err = {STATUS_OK, ""};
    assert_taken(parse(bytes_of(text), &arena, &url, &err), text, &err);
    return url;
}

static void every_part_is_read(void **state) {
    (void)state;
    struct rabbit_url url = parsed(
        rabbit_url_source, "amqps://me:p%40ss@a.example:1,b.example/shop%2Feu?queue=or%20ders"
                           "&prefetch=7&ca=/ca.pem&cert=/c.pem&key=/k.pem");
    assert_true(url.tls);
    assert_int_equal(url.host_count, 2);
    assert_bytes(url.hosts[0].name, "a.example");
    assert_int_equal(url.hosts[0].port, 1);
    assert_bytes(url.hosts[1].name, "b.example");
    assert_int_equal(url.hosts[1].port, 5671);
    assert_bytes(url.user, "me");
    assert_bytes(url.password, "p@ss");
    assert_bytes(url.vhost, "shop/eu");
    assert_bytes(url.queue, "or ders");
    assert_int_equal(url.prefetch, 7);
    assert_false(url.origin_queue);
    assert_bytes(url.ca_file, "/ca.pem");
    assert_bytes(url.cert_file, "/c.pem");
    assert_bytes(url.key_file, "/k.pem");
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    static const char *const short_ones[] = {"amqp://h?queue=q", "amqp://h/?queue=q",
                                             "amqp://h/%2F?queue=q", "amqp://h:5672?queue=q"};
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        struct rabbit_url url = parsed(rabbit_url_source, short_ones[i]);
        assert_int_equal(url.hosts[0].port, 5672);
        assert_bytes(url.vhost, "/");
        assert_bytes(url.user, "guest");
        assert_bytes(url.password, "guest");
        assert_int_equal(url.prefetch, RABBIT_URL_PREFETCH);
        assert_int_equal(url.ca_file.len, 0);
    }
    assert_true(parsed(rabbit_url_source, "amqps://h?queue=q").ca_file.len > 0);
}

static void letters_return_by_their_exchange_unless_the_url_says_queue(void **state) {
    (void)state;
    assert_true(parsed(rabbit_url_source, "amqp://h?queue=q&origin=queue").origin_queue);
    assert_false(parsed(rabbit_url_source, "amqp://h?queue=q&origin=exchange").origin_queue);
}

static void a_sink_publishes_to_a_queue_or_an_exchange(void **state) {
    (void)state;
    struct rabbit_url url = parsed(rabbit_url_sink, "amqp://h?queue=q");
    assert_bytes(url.exchange, "");
    assert_bytes(url.routing_key, "q");
    url = parsed(rabbit_url_sink, "amqp://h?exchange=e&routing_key=r.k");
    assert_bytes(url.exchange, "e");
    assert_bytes(url.routing_key, "r.k");
    url = parsed(rabbit_url_sink, "amqp://h?exchange=e");
    assert_bytes(url.routing_key, "");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        parse_fn *parse;
        const char *url, *words;
    } cases[] = {
        {rabbit_url_source, "redis://h?queue=q", "amqp://"},
        {rabbit_url_source, "amqp://h", "?queue=NAME"},
        {rabbit_url_source, "amqp://h?queue=", "the name of a queue"},
        {rabbit_url_source, "amqp://h?queue=q&prefetch=0", "from 1 to 65535"},
        {rabbit_url_source, "amqp://h?queue=q&prefetch=65536", "from 1 to 65535"},
        {rabbit_url_source, "amqp://h?queue=q&prefetch=x", "from 1 to 65535"},
        {rabbit_url_source, "amqp://h?queue=q&exchange=e", "exchange"},
        {rabbit_url_source, "amqp://h?queue=q&origin=topic", "exchange or queue"},
        {rabbit_url_sink, "amqp://h?queue=q&origin=queue", "origin"},
        {rabbit_url_source, "amqp://h?queue=q&ca=/x", "only amqps://"},
        {rabbit_url_source, "amqps://h?queue=q&cert=/x", "go together"},
        {rabbit_url_sink, "amqp://h", "?queue=NAME or ?exchange=NAME"},
        {rabbit_url_sink, "amqp://h?queue=q&exchange=e", "?queue=NAME or ?exchange=NAME"},
        {rabbit_url_sink, "amqp://h?queue=q&routing_key=r", "?queue=NAME or ?exchange=NAME"},
        {rabbit_url_sink, "amqp://h?queue=q&prefetch=3", "prefetch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rabbit_url url;
        struct err err = {STATUS_OK, ""};
        assert_said(cases[i].parse(bytes_of(cases[i].url), &arena, &url, &err), cases[i].url, &err,
                    cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_read),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(letters_return_by_their_exchange_unless_the_url_says_queue),
        cmocka_unit_test(a_sink_publishes_to_a_queue_or_an_exchange),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests_name("rabbit_url", tests, set_up, tear_down);
}
