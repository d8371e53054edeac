#include "test.h"

#include "broker/common/url.h"

static enum status parse(const char *text, struct arena *arena, struct url *url, struct err *err) {
    arena_init_heap(arena, 256);
    return url_parse(bytes_of(text), arena, url, err);
}

static void every_part_is_read_and_decoded(void **state) {
    (void)state;
    struct arena arena;
    struct url url;
    assert_int_equal(
        parse("amqps://me:p%40ss%3A%2f@b1.example:5671,b2,[::1]:7/a%2Fb?queue=q%20a&x=", &arena,
              &url, NULL),
        STATUS_OK);
    assert_string_equal(url.scheme.ptr, "amqps");
    assert_string_equal(url.user.ptr, "me");
    assert_string_equal(url.password.ptr, "p@ss:/");
    assert_int_equal(url.host_count, 3);
    assert_string_equal(url.hosts[0].name.ptr, "b1.example");
    assert_int_equal(url.hosts[0].port, 5671);
    assert_string_equal(url.hosts[1].name.ptr, "b2");
    assert_int_equal(url.hosts[1].port, 0);
    assert_string_equal(url.hosts[2].name.ptr, "::1");
    assert_int_equal(url.hosts[2].port, 7);
    assert_string_equal(url.path.ptr, "a/b");
    assert_int_equal(url.parameter_count, 2);
    assert_bytes(url.parameters[0].name, "queue");
    assert_string_equal(url.parameters[0].value.ptr, "q a");
    assert_bytes(url.parameters[1].name, "x");
    assert_bytes(url.parameters[1].value, "");
    arena_free(&arena);
}

static void what_is_not_there_is_none(void **state) {
    (void)state;
    struct arena arena;
    struct url url;
    assert_int_equal(parse("nats://h", &arena, &url, NULL), STATUS_OK);
    assert_null(url.user.ptr);
    assert_null(url.password.ptr);
    assert_null(url.path.ptr);
    assert_int_equal(url.parameter_count, 0);
    arena_free(&arena);
    assert_int_equal(parse("nats://token@h/", &arena, &url, NULL), STATUS_OK);
    assert_bytes(url.user, "token");
    assert_null(url.password.ptr);
    assert_non_null(url.path.ptr);
    assert_int_equal(url.path.len, 0);
    arena_free(&arena);
}

/* A password with an unencoded @ / ? or : in it lands in other parts; nothing may quote them. */
static void what_is_wrong_is_said_without_secrets(void **state) {
    (void)state;
    static const struct {
        const char *url, *words;
    } cases[] = {
        {"h/0", "scheme"},
        {"://h", "scheme"},
        {"re dis://h", "scheme"},
        {"redis://", "host"},
        {"redis://h:0", "host:port"},
        {"redis://h:65536", "host:port"},
        {"redis://h:x", "host:port"},
        {"redis://h,", "host:port"},
        {"redis://[::1", "host"},
        {"redis://[::1]7", "host"},
        {"redis://a%2:SECRET@h", "the user is not percent-encoded"},
        {"redis://a:%SECRET@h", "the password is not percent-encoded"},
        {"redis://h/%", "the path is not percent-encoded"},
        {"redis://h/%00", "the path is not percent-encoded"},
        {"redis://me:12/SECRET@h/0", "%2F for a / in the password"},
        {"redis://me:SECRET/x@h/0", "host:port"},
        {"redis://me:12?SECRET@h/0", "name=value"},
        {"redis://h?SECRET", "name=value"},
        {"redis://h?a=%zz", "percent-encoded"},
        {"redis://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "more than 16 hosts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct url url;
        struct err err = {STATUS_OK, ""};
        assert_int_equal(parse(cases[i].url, &arena, &url, &err), STATUS_INVALID);
        if (!strstr(err.text, cases[i].words) || strstr(err.text, "SECRET"))
            fail_msg("%s: %s", cases[i].url, err.text);
        arena_free(&arena);
    }
}

static void too_much_of_anything_is_refused(void **state) {
    (void)state;
    struct arena arena;
    struct url url;
    struct buf text;
    buf_init_heap(&text, URL_TEXT_MAX * 2);
    buf_str(&text, "redis://h?");
    for (int i = 0; i <= URL_PARAMETERS_MAX; i++)
        buf_str(&text, "a=b&");
    assert_int_equal(parse(buf_cstr(&text), &arena, &url, NULL), STATUS_INVALID);
    arena_free(&arena);
    buf_clear(&text);
    buf_str(&text, "redis://");
    while (text.len <= URL_TEXT_MAX)
        buf_char(&text, 'h');
    assert_int_equal(parse(buf_cstr(&text), &arena, &url, NULL), STATUS_INVALID);
    arena_free(&arena);
    buf_free(&text);
}

/* ---- parameters ---- */

struct taken {
    struct bytes queue;
    uint64_t prefetch;
};

static bool read_prefetch(struct bytes value, void *at) {
    return bytes_u64(value, at);
}

static const struct url_field fields[] = {
    URL_FIELD("queue", url_text, struct taken, queue, "the name of a queue"),
    URL_FIELD("prefetch", read_prefetch, struct taken, prefetch, "a number"),
};

static void a_parameter_goes_through_its_field(void **state) {
    (void)state;
    static const struct {
        const char *url, *words;
    } cases[] = {
        {"amqp://h?prefetch=7&queue=orders", NULL},
        {"amqp://h?queue=", "queue: expected the name of a queue, got \"\""},
        {"amqp://h?prefetch=x", "prefetch: expected a number, got \"x\""},
        {"amqp://h?que=orders", "unknown parameter \"que\": there are queue, prefetch"},
        {"amqp://h?queue=a&queue=b", "queue is given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct url url;
        struct taken taken = {{0}, 0};
        struct err err = {STATUS_OK, ""};
        assert_int_equal(parse(cases[i].url, &arena, &url, NULL), STATUS_OK);
        enum status status = url_read(&url, fields, 2, &taken, &err);
        assert_int_equal(status, cases[i].words ? STATUS_INVALID : STATUS_OK);
        if (cases[i].words)
            assert_string_equal(err.text, cases[i].words);
        else
            assert_true(bytes_is(taken.queue, "orders") && taken.prefetch == 7);
        arena_free(&arena);
    }
}

static void assert_printed(void (*print)(struct bytes text, struct buf *out), const char *url,
                           const char *shown) {
    char memory[256];
    struct buf out;
    buf_init_fixed(&out, memory, sizeof memory);
    print(bytes_of(url), &out);
    assert_string_equal(buf_cstr(&out), shown);
}

static void people_do_not_see_who_may_enter(void **state) {
    (void)state;
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"redis://h/0?list=a", "redis://h/0?list=a"},
        {"redis://me:secret@h/0?list=a", "redis://***@h/0?list=a"},
        {"nats://token@h", "nats://***@h"},
        {"redis://me:se@cr/et@h", "redis://***@h"},
        {"builtin", "builtin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_printed(url_show, cases[i].url, cases[i].shown);
}

static void what_is_printed_does_not_tell_who_may_enter(void **state) {
    (void)state;
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"kafka://me:s3cret@h1,h2/orders?group=g", "kafka://***@h1,h2/orders?group=g"},
        {"redis://:s3cret@h/0?list=a@b", "redis://***@h/0?list=a@b"},
        {"nats://t0ken@h?stream=S", "nats://***@h?stream=S"},
        {"amqp://me:a@b@h/?queue=q", "amqp://***@h/?queue=q"},
        {"amqp://me:a#b@h/?queue=q", "amqp://***@h/?queue=q"},
        {"redis://:${PASSWORD}@h/0?list=q", "redis://:${PASSWORD}@h/0?list=q"},
        {"amqp://me:${PASSWORD}@h/?queue=q", "amqp://me:${PASSWORD}@h/?queue=q"},
        {"amqp://${USER}:s3cret@h/?queue=q", "amqp://***@h/?queue=q"},
        {"amqp://me:s3${PASSWORD}@h/?queue=q", "amqp://***@h/?queue=q"},
        {"redis://:s3cret@${HOST}/0?list=q", "redis://***@${HOST}/0?list=q"},
        {"http://h/page?mail=a@b", "http://h/page?mail=a@b"},
        {".url = \"http://u:p@h\"", ".url = \"http://u:p@h\""},
        {"builtin", "builtin"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_printed(url_mask, cases[i].url, cases[i].shown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_read_and_decoded),
        cmocka_unit_test(what_is_not_there_is_none),
        cmocka_unit_test(what_is_wrong_is_said_without_secrets),
        cmocka_unit_test(too_much_of_anything_is_refused),
        cmocka_unit_test(a_parameter_goes_through_its_field),
        cmocka_unit_test(people_do_not_see_who_may_enter),
        cmocka_unit_test(what_is_printed_does_not_tell_who_may_enter),
    };
    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
