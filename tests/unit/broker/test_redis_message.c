#include "test.h"

#include "broker/redis/redis_message.h"
#include "broker/common/url.h"

static void an_element_is_a_body_and_its_json_may_have_the_id(void **state) {
    (void)state;
    static const struct {
        const char *element, *id, *type;
    } cases[] = {
        {"{\"id\":\"o-1\",\"n\":1.0}", "o-1", "application/json"},
        {"{\"id\":\"\\u00e9\"}", "é", "application/json"},
        {"{\"id\":7}", "tag", "application/json"},
        {"{\"id\":\"\"}", "tag", "application/json"},
        {"{\"id\":\"a\\nb\"}", "tag", "application/json"},
        {"[\"id\"]", "tag", "application/json"},
        {"hello", "tag", "text/plain; charset=utf-8"},
        {"\xff", "tag", "application/octet-stream"},
        {"", "tag", "text/plain; charset=utf-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message *held = redis_message_of_element(BYTES("q:main"), BYTES(".id"), BYTES("tag"),
                                                        bytes_of(cases[i].element));
        assert_bytes(held->envelope.id, cases[i].id);
        assert_bytes(held->body, cases[i].element);
        assert_bytes(held->envelope.content_type, cases[i].type);
        assert_bytes(held->envelope.source, "{\"kind\":\"redis\",\"list\":\"q:main\"}");
        message_free(held);
    }
}

static void a_member_of_a_set_says_which_set(void **state) {
    (void)state;
    struct message *job = redis_message_of_member("zset", BYTES("dead"), BYTES(".id"), BYTES("tag"),
                                                  BYTES("{\"id\":\"j-1\"}"));
    struct message *task = redis_message_of_member("asynq", BYTES("mail"), BYTES(".id"),
                                                   BYTES("t-1"), (struct bytes){"\0\xff", 2});
    assert_bytes(job->envelope.id, "j-1");
    assert_bytes(job->envelope.source, "{\"kind\":\"redis\",\"zset\":\"dead\"}");
    assert_bytes(task->envelope.id, "t-1");
    assert_bytes(task->envelope.source, "{\"kind\":\"redis\",\"asynq\":\"mail\"}");
    assert_true(bytes_eq(task->body, (struct bytes){"\0\xff", 2}));
    message_free(job);
    message_free(task);
}

static void the_id_stands_where_the_path_says(void **state) {
    (void)state;
    static const struct {
        const char *path, *id;
    } cases[] = {{".order.id", "o-1"}, {"", "tag"}, {".order", "tag"}, {".nowhere", "tag"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message *held =
            redis_message_of_element(BYTES("l"), bytes_of(cases[i].path), BYTES("tag"),
                                     BYTES("{\"id\":\"x\",\"order\":{\"id\":\"o-1\"}}"));
        assert_bytes(held->envelope.id, cases[i].id);
        message_free(held);
    }
}

static void an_id_that_is_too_long_is_none(void **state) {
    (void)state;
    struct buf element;
    buf_init_heap(&element, 1024);
    buf_str(&element, "{\"id\":\"");
    for (int i = 0; i <= URL_ID_MAX; i++)
        buf_char(&element, 'x');
    buf_str(&element, "\"}");
    struct message *held =
        redis_message_of_element(BYTES("l"), BYTES(".id"), BYTES("tag"), buf_view(&element));
    assert_bytes(held->envelope.id, "tag");
    message_free(held);
    buf_free(&element);
}

static struct message *entry(const struct redis_message_field *fields, size_t count) {
    return redis_message_of_entry(BYTES("orders"), BYTES("g"), BYTES("1700000000123-7"), fields,
                                  count);
}

static void fields_beside_a_body_are_key_type_and_headers(void **state) {
    (void)state;
    const struct redis_message_field fields[] = {{BYTES("tenant"), BYTES("t1")},
                                                 {BYTES("body"), BYTES("{}")},
                                                 {BYTES("key"), BYTES("k")},
                                                 {BYTES("content_type"), BYTES("x/y")},
                                                 {BYTES("tenant"), BYTES("t2")}};
    struct message *held = entry(fields, 5);
    const struct envelope *envelope = &held->envelope;
    assert_bytes(envelope->id, "1700000000123-7");
    assert_bytes(held->body, "{}");
    assert_bytes(envelope->key, "k");
    assert_bytes(envelope->content_type, "x/y");
    assert_int_equal(envelope->header_count, 2);
    assert_bytes(envelope->headers[0].value, "t1");
    assert_bytes(envelope->headers[1].value, "t2");
    assert_int_equal(envelope->created_at.ms, 1700000000123);
    assert_bytes(envelope->source, "{\"kind\":\"redis\",\"stream\":\"orders\",\"group\":\"g\","
                                   "\"entry\":\"1700000000123-7\",\"content_type\":true}");
    message_free(held);
}

static void without_a_body_one_field_is_it_and_several_are_an_object(void **state) {
    (void)state;
    const struct redis_message_field fields[] = {{BYTES("key"), BYTES("plain")},
                                                 {BYTES("b\""), BYTES("2")}};
    struct message *one = entry(fields, 1), *two = entry(fields, 2);
    assert_bytes(one->body, "plain");
    assert_null(one->envelope.key.ptr);
    assert_bytes(one->envelope.source, "{\"kind\":\"redis\",\"stream\":\"orders\",\"group\":\"g\","
                                       "\"entry\":\"1700000000123-7\",\"field\":\"key\"}");
    assert_bytes(two->envelope.source, "{\"kind\":\"redis\",\"stream\":\"orders\",\"group\":\"g\","
                                       "\"entry\":\"1700000000123-7\",\"fields\":true}");
    assert_bytes(two->body, "{\"key\":\"plain\",\"b\\\"\":\"2\"}");
    assert_bytes(two->envelope.content_type, "application/json");
    assert_int_equal(two->envelope.header_count, 0);
    message_free(one);
    message_free(two);
}

static void bytes_that_are_not_utf8_are_base64_in_the_object(void **state) {
    (void)state;
    const struct redis_message_field fields[] = {{BYTES("a"), BYTES("\xff\x01")},
                                                 {BYTES("\xfe"), BYTES("2")},
                                                 {BYTES("base64:x"), BYTES("")}};
    struct message *held = entry(fields, 3);
    assert_bytes(held->body, "{\"a\":{\"base64\":\"/wE=\"},\"base64:/g==\":\"2\","
                             "\"base64:YmFzZTY0Ong=\":\"\"}");
    message_free(held);
}

static void a_letter_in_a_list_has_its_reason_beside_its_members(void **state) {
    (void)state;
    static const struct rule_header headers[] = {{BYTES("dlq-reason"), BYTES("a\"b")},
                                                 {BYTES("dlq-failed-at"), BYTES("1700000000")}};
    static const struct {
        const char *body, *record;
    } cases[] = {
        {"{\"a\": 1.0}", "{\"a\": 1.0,\"dlq_reason\":\"a\\\"b\",\"dlq_at\":1700000000}"},
        {" { } ", "{ \"dlq_reason\":\"a\\\"b\",\"dlq_at\":1700000000}"},
        {"{\"dlq_at\": 1.5 , \"a\": 1.0, \"dlq_reason\" : {\"dlq_at\":1} }",
         "{\"dlq_at\": 1700000000 , \"a\": 1.0, \"dlq_reason\" : \"a\\\"b\" }"},
        {"{\"dlq_at\":1.5}", "{\"dlq_at\":1700000000,\"dlq_reason\":\"a\\\"b\"}"},
        {"[1]", NULL},
        {"text", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sink_item item = {
            .body = bytes_of(cases[i].body), .headers = headers, .header_count = 2};
        struct buf out;
        buf_init_heap(&out, 256);
        assert_int_equal(redis_message_record(&item, &out), cases[i].record != NULL);
        if (cases[i].record)
            assert_string_equal(buf_cstr(&out), cases[i].record);
        item.header_count = 0;
        assert_false(redis_message_record(&item, &out));
        buf_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_element_is_a_body_and_its_json_may_have_the_id),
        cmocka_unit_test(a_member_of_a_set_says_which_set),
        cmocka_unit_test(the_id_stands_where_the_path_says),
        cmocka_unit_test(an_id_that_is_too_long_is_none),
        cmocka_unit_test(fields_beside_a_body_are_key_type_and_headers),
        cmocka_unit_test(without_a_body_one_field_is_it_and_several_are_an_object),
        cmocka_unit_test(bytes_that_are_not_utf8_are_base64_in_the_object),
        cmocka_unit_test(a_letter_in_a_list_has_its_reason_beside_its_members),
    };
    return cmocka_run_group_tests_name("redis_message", tests, NULL, NULL);
}
