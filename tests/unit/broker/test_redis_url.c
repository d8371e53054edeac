#include "broker/redis/redis_url.h"
#include "url_case.h"

static void every_part_is_read(void **state) {
    (void)state;
    struct redis_url url;
    assert_int_equal(redis_url_sink(BYTES("redis://me:p%40ss%3A@cache.example:6380/3"
                                          "?ttl=24h&key=result%3A{id}:v1"),
                                    &arena, &url, NULL),
                     STATUS_OK);
    assert_bytes(url.host, "cache.example");
    assert_int_equal(url.port, 6380);
    assert_int_equal(url.database, 3);
    assert_bytes(url.user, "me");
    assert_bytes(url.password, "p@ss:");
    assert_bytes(url.key, "result:{id}:v1");
    assert_int_equal(url.ttl_ms, 24 * 3600 * 1000);
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    static const char *const short_ones[] = {"redis://h?key={id}", "redis://h/?key={id}",
                                             "redis://h/0?key={id}", "redis://h:6379?key={id}"};
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        struct redis_url url;
        assert_int_equal(redis_url_sink(bytes_of(short_ones[i]), &arena, &url, NULL), STATUS_OK);
        assert_bytes(url.host, "h");
        assert_int_equal(url.port, REDIS_URL_PORT);
        assert_int_equal(url.database, 0);
        assert_int_equal(url.password.len, 0);
        assert_int_equal(url.ttl_ms, 0);
    }
}

static void an_ipv6_address_stands_in_brackets(void **state) {
    (void)state;
    struct redis_url url;
    assert_int_equal(redis_url_sink(BYTES("redis://:secret@[::1]:7?key={id}"), &arena, &url, NULL),
                     STATUS_OK);
    assert_bytes(url.host, "::1");
    assert_int_equal(url.port, 7);
    assert_bytes(url.user, "");
    assert_bytes(url.password, "secret");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const struct {
        const char *url, *words;
    } cases[] = {
        {"http://h?key={id}", "redis://"},
        {"redis://a,b?key={id}", "one host"},
        {"redis://?key={id}", "host"},
        {"redis://h:0?key={id}", "host:port"},
        {"redis://h:65536?key={id}", "host:port"},
        {"redis://h:x?key={id}", "host:port"},
        {"redis://[::1?key={id}", "host"},
        {"redis://[::1]7?key={id}", "host"},
        {"redis://h/x?key={id}", "database"},
        {"redis://h/65536?key={id}", "database"},
        {"redis://a%2@h?key={id}", "percent-encoded"},
        {"redis://h", "expected ?key=result:{id}, ?list=NAME or ?stream=NAME"},
        {"redis://h?ttl=1h", "expected ?key=result:{id}, ?list=NAME or ?stream=NAME"},
        {"redis://h?key=all", "with {id} in it"},
        {"redis://h?key={id}&ttl=0", "a duration"},
        {"redis://h?key={id}&ttl=soon", "a duration"},
        {"redis://h?key={id}&list=x", "expected ?key"},
        {"redis://h?list=x&ttl=1h", "only a key has one"},
        {"redis://h?key={id}&group=g", "unknown parameter \"group\""},
        {"redis://h?key", "name=value"},
        {"redis://h?key=%zz", "percent-encoded"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct redis_url url;
        struct err err = {STATUS_OK, ""};
        assert_said(redis_url_sink(bytes_of(cases[i].url), &arena, &url, &err), cases[i].url, &err,
                    cases[i].words);
    }
}

static void a_source_is_a_list_or_a_stream_with_its_group(void **state) {
    (void)state;
    static const struct {
        const char *url, *words;
    } cases[] = {
        {"redis://h?list=q:main", NULL},
        {"redis://h/2?stream=orders&group=g", NULL},
        {"rediss://h?list=q&ca=/etc/ca.pem", NULL},
        {"redis://h?zset=dead", NULL},
        {"redis://h?asynq=default", NULL},
        {"redis://h", "expected ?list=NAME, ?stream=NAME&group=NAME, ?zset=NAME or ?asynq=QUEUE"},
        {"redis://h?list=a&stream=b&group=g", "expected ?list=NAME, ?stream"},
        {"redis://h?zset=a&asynq=b", "expected ?list=NAME, ?stream"},
        {"redis://h?zset=a&group=g", "only a stream has one"},
        {"redis://h?stream=orders", "go together"},
        {"redis://h?list=a&group=g", "only a stream has one"},
        {"redis://h?list=", "the name of a list"},
        {"redis://h?key={id}",
         "unknown parameter \"key\": there are list, stream, zset, asynq, group, id, idle, ca"},
        {"redis://h?list=a&ca=x", "only rediss://"},
        {"redis://h?list=a&idle=10ms", "at least 1s"},
        {"redis://h?list=a&id=order", "a path into the body"},
        {"redis://h?stream=a&group=g&id=.id", "id: only of a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct redis_url url;
        struct err err = {STATUS_OK, ""};
        enum status status = redis_url_source(bytes_of(cases[i].url), &arena, &url, &err);
        if (cases[i].words)
            assert_said(status, cases[i].url, &err, cases[i].words);
        else
            assert_taken(status, cases[i].url, &err);
    }
}

static void the_id_of_an_element_stands_where_the_url_says(void **state) {
    (void)state;
    static const struct {
        const char *url, *path;
    } cases[] = {{"redis://h?list=a", ".id"},
                 {"redis://h?list=a&id=.order.id", ".order.id"},
                 {"redis://h?list=a&id=", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct redis_url url;
        struct err err;
        assert_taken(redis_url_source(bytes_of(cases[i].url), &arena, &url, &err), cases[i].url,
                     &err);
        assert_bytes(url.id_path, cases[i].path);
    }
}

static void what_is_only_looked_at_needs_no_group(void **state) {
    (void)state;
    struct redis_url url;
    struct err err;
    assert_taken(redis_url_peek(BYTES("redis://h?stream=orders"), &arena, &url, &err), "stream",
                 &err);
    assert_int_equal(redis_url_check_peek(BYTES("redis://h?stream=orders"), &err), STATUS_OK);
    assert_said(redis_url_check_peek(BYTES("redis://h?list=a&group=g"), &err), "list", &err,
                "only a stream has one");
    assert_said(redis_url_check_peek(BYTES("redis://h?group=g"), &err), "none", &err,
                "expected ?list=NAME");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_read),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(an_ipv6_address_stands_in_brackets),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_source_is_a_list_or_a_stream_with_its_group),
        cmocka_unit_test(the_id_of_an_element_stands_where_the_url_says),
        cmocka_unit_test(what_is_only_looked_at_needs_no_group),
    };
    return cmocka_run_group_tests_name("redis_url", tests, set_up, tear_down);
}
