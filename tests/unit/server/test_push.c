/* What a producer may send, as tables: text in, messages or a mistake out. */
#include "test.h"

#include <stdio.h>

#include "server/api/json/push.h"

static struct arena arena;

static enum status parse(const char *text, bool lines, struct push *push, struct err *err) {
    struct rng rng;
    rng_seed(&rng, 7);
    struct push_context context = {
        .queue = BYTES("orders"), .now = {1700000000000}, .rng = &rng, .arena = &arena};
    err->text[0] = '\0';
    return lines ? push_parse_lines(&context, bytes_of(text), push, err)
                 : push_parse_one(&context, bytes_of(text), push, err);
}

static struct push_item *one(const char *text) {
    static struct push push;
    struct err err;
    if (parse(text, false, &push, &err) != STATUS_OK)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(push.count, 1);
    return &push.items[0];
}

static void refuses(const char *text, const char *says) {
    struct push push;
    struct err err;
    assert_int_equal(parse(text, false, &push, &err), STATUS_INVALID);
    if (!strstr(err.text, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, says);
}

static void a_body_is_the_exact_slice_of_the_request(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{\"body\":1.0}", "1.0"},
        {"{\"body\" : {\"b\":1,\"a\":12345678901234567890,\"a\":2} }",
         "{\"b\":1,\"a\":12345678901234567890,\"a\":2}"},
        {"{\"body\":\"text\"}", "\"text\""},
        {"{\"body\":null}", "null"},
        {"{\"body\":[ 1 ,2 ]}", "[ 1 ,2 ]"},
        {"{\"body_base64\":\"aGk=\"}", "hi"},
        {"{\"body_base64\":\"\"}", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_bytes(one(rows[i][0])->body, rows[i][1]);
}

static void an_envelope_is_filled_in(void **state) {
    (void)state;
    struct envelope *e =
        &one("{\"body\":{},\"key\":\"k1\",\"headers\":{\"a\":\"b\",\"c-d\":\"\"}}")->envelope;
    assert_int_equal(e->state, STATE_QUEUED);
    assert_bytes(e->queue, "orders");
    assert_bytes(e->key, "k1");
    assert_int_equal(e->header_count, 2);
    assert_bytes(e->headers[0].name, "a");
    assert_bytes(e->headers[0].value, "b");
    assert_bytes(e->content_type, "application/json");
    assert_bytes(e->source, "{\"kind\":\"builtin\"}");
    assert_int_equal(e->created_at.ms, 1700000000000);
    assert_int_equal(e->next_attempt_at.ms, WALL_NEVER.ms);
    assert_int_equal(e->size, 2);
    /* sha256 of "{}" */
    assert_string_equal(e->content_hash,
                        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    assert_int_equal(e->id.len, 36);
    assert_int_equal(e->id.ptr[14], '7');
}

static void raw_bytes_have_a_content_type(void **state) {
    (void)state;
    assert_bytes(one("{\"body_base64\":\"/w==\"}")->envelope.content_type,
                 "application/octet-stream");
    assert_bytes(
        one("{\"body_base64\":\"/w==\",\"content_type\":\"image/png\"}")->envelope.content_type,
        "image/png");
}

static void a_delay_is_a_duration_or_milliseconds(void **state) {
    (void)state;
    struct envelope *e = &one("{\"body\":1,\"delay\":\"5m\"}")->envelope;
    assert_int_equal(e->delay_ms, 300000);
    assert_int_equal(e->next_attempt_at.ms, 1700000300000);
    assert_int_equal(one("{\"body\":1,\"delay\":1500}")->envelope.next_attempt_at.ms,
                     1700000001500);
    assert_int_equal(one("{\"body\":1,\"delay\":0}")->envelope.next_attempt_at.ms, 0);
    refuses("{\"body\":1,\"delay\":\"soon\"}", "\"delay\" must be a duration");
    refuses("{\"body\":1,\"delay\":-1}", "\"delay\" must be a duration");
    refuses("{\"body\":1,\"delay\":1.5}", "\"delay\" must be a duration");
    refuses("{\"body\":1,\"delay\":\"366d\"}", "365d");
}

static void an_id_is_1_to_255_bytes_of_printable_text(void **state) {
    (void)state;
    char text[400];
    assert_true(one("{\"body\":1,\"id\":\"o/1 \\u00e9\"}")->chose_id);
    assert_bytes(one("{\"body\":1,\"id\":\"o/1\"}")->envelope.id, "o/1");
    snprintf(text, sizeof text, "{\"body\":1,\"id\":\"%0255d\"}", 1);
    assert_int_equal(one(text)->envelope.id.len, 255);
    snprintf(text, sizeof text, "{\"body\":1,\"id\":\"%0256d\"}", 1);
    refuses(text, "1 to 255 bytes");
    refuses("{\"body\":1,\"id\":\"\"}", "1 to 255 bytes");
    refuses("{\"body\":1,\"id\":\"a\\nb\"}", "control characters");
    refuses("{\"body\":1,\"id\":\"a\\u0085b\"}", "control characters");
    refuses("{\"body\":1,\"id\":7}", "\"id\" must be a string, not a number");
}

static void mistakes_name_the_member(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "not JSON"},
        {"nonsense", "not JSON"},
        {"[1]", "not an array"},
        {"{}", "\"body\" is missing"},
        {"{\"bodi\":1}", "unknown member \"bodi\"; did you mean \"body\"?"},
        {"{\"body\":1,\"prioritätsstufe\":1}", "unknown member \"prioritätsstufe\""},
        {"{\"body\":1,\"body\":2}", "\"body\" is given twice"},
        {"{\"body\":1,\"body_base64\":\"\"}", "both given"},
        {"{\"body_base64\":\"a\"}", "\"body_base64\" is not base64"},
        {"{\"body_base64\":1}", "\"body_base64\" must be a string"},
        {"{\"body\":1,\"key\":1}", "\"key\" must be a string"},
        {"{\"body\":1,\"headers\":[]}", "\"headers\" must be an object of strings"},
        {"{\"body\":1,\"headers\":{\"a\":1}}", "\"a\" must be a string, not a number"},
        {"{\"body\":1,\"headers\":{\"a b\":\"\"}}", "no HTTP header name"},
        {"{\"body\":1,\"headers\":{\"\":\"\"}}", "no HTTP header name"},
        {"{\"body\":1,\"headers\":{\"a\":\"b\\r\\nc: d\"}}", "control characters"},
        {"{\"body\":1,\"content_type\":\"\"}", "\"content_type\" must have"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses(rows[i][0], rows[i][1]);
}

static void too_many_headers_are_refused(void **state) {
    (void)state;
    struct buf text;
    buf_init_heap(&text, 100000);
    buf_str(&text, "{\"body\":1,\"headers\":{\"h\":\"\"");
    for (int i = 0; i < ENVELOPE_HEADERS_MAX; i++)
        buf_printf(&text, ",\"h%d\":\"\"", i);
    buf_str(&text, "}}");
    refuses(buf_cstr(&text), "has 257 headers");
    buf_free(&text);
}

static void lines_are_messages_and_blank_ones_count_as_lines(void **state) {
    (void)state;
    struct push push;
    struct err err;
    assert_int_equal(
        parse("{\"body\":1}\n\n  \r\n{\"body\":2,\"id\":\"b\"}\r\n", true, &push, &err), STATUS_OK);
    assert_int_equal(push.count, 2);
    assert_bytes(push.items[0].body, "1");
    assert_int_equal(push.items[1].line, 4);
    assert_bytes(push.items[1].envelope.id, "b");
    assert_false(bytes_eq(push.items[0].envelope.id, push.items[1].envelope.id));
}

static void a_bad_line_is_named(void **state) {
    (void)state;
    struct push push;
    struct err err;
    assert_int_equal(parse("{\"body\":1}\n\n{\"body\":", true, &push, &err), STATUS_INVALID);
    assert_int_equal(push.line, 3);
    assert_ptr_equal(strstr(err.text, "line 3: not JSON: column "), err.text);
    assert_int_equal(parse("\n \n", true, &push, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "no messages"));
}

static void the_same_id_twice_is_a_repeat_or_a_conflict(void **state) {
    (void)state;
    struct push push;
    struct err err;
    const char *same = "{\"body\":1,\"id\":\"a\"}\n{\"body\":2}\n{\"body\":1,\"id\":\"a\"}\n";
    assert_int_equal(parse(same, true, &push, &err), STATUS_OK);
    assert_int_equal(push.items[0].repeat_of, 0);
    assert_int_equal(push.items[2].repeat_of, 1);
    const char *other = "{\"body\":1,\"id\":\"a\"}\n{\"body\":2}\n{\"body\":3,\"id\":\"a\"}\n";
    assert_int_equal(parse(other, true, &push, &err), STATUS_CONFLICT);
    assert_int_equal(push.line, 3);
    assert_non_null(strstr(err.text, "line 3: the id \"a\" stands on line 1"));
}

static void more_lines_than_the_limit_are_refused(void **state) {
    (void)state;
    struct push push;
    struct err err;
    char *text = malloc(PUSH_LINES_MAX + 2);
    memset(text, '\n', PUSH_LINES_MAX + 1);
    text[PUSH_LINES_MAX + 1] = '\0';
    assert_int_equal(parse(text, true, &push, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "50001 lines; at most 50000"));
    free(text);
}

static int setup(void **state) {
    (void)state;
    arena_init_heap(&arena, 4096);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_the_exact_slice_of_the_request),
        cmocka_unit_test(an_envelope_is_filled_in),
        cmocka_unit_test(raw_bytes_have_a_content_type),
        cmocka_unit_test(a_delay_is_a_duration_or_milliseconds),
        cmocka_unit_test(an_id_is_1_to_255_bytes_of_printable_text),
        cmocka_unit_test(mistakes_name_the_member),
        cmocka_unit_test(too_many_headers_are_refused),
        cmocka_unit_test(lines_are_messages_and_blank_ones_count_as_lines),
        cmocka_unit_test(a_bad_line_is_named),
        cmocka_unit_test(the_same_id_twice_is_a_repeat_or_a_conflict),
        cmocka_unit_test(more_lines_than_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
