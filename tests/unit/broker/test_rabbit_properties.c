/* Properties as they come, as texts, and as they go out again. */
#include "test.h"

#include <amqp.h>

#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_properties.h"
#include "broker/rabbitmq/rabbit_table.h"

enum { TEXTS_MAX = 32 };

static amqp_table_entry_t entry(const char *name, amqp_field_value_t value) {
    return (amqp_table_entry_t){amqp_cstring_bytes(name), value};
}

static amqp_field_value_t text(const char *value) {
    return (amqp_field_value_t){.kind = AMQP_FIELD_KIND_UTF8,
                                .value.bytes = amqp_cstring_bytes(value)};
}

static amqp_field_value_t number(int32_t value) {
    return (amqp_field_value_t){.kind = AMQP_FIELD_KIND_I32, .value.i32 = value};
}

static void every_kind_of_value_has_a_text(void **state) {
    (void)state;
    amqp_field_value_t items[] = {number(-1), text("a\"b")};
    amqp_table_entry_t member = entry("k", (amqp_field_value_t){.kind = AMQP_FIELD_KIND_VOID});
    const struct {
        amqp_field_value_t value;
        const char *text;
    } cases[] = {
        {text("plain \"text\""), "plain \"text\""},
        {number(-7), "-7"},
        {{.kind = AMQP_FIELD_KIND_I8, .value.i8 = -8}, "-8"},
        {{.kind = AMQP_FIELD_KIND_U8, .value.u8 = 200}, "200"},
        {{.kind = AMQP_FIELD_KIND_I16, .value.i16 = -300}, "-300"},
        {{.kind = AMQP_FIELD_KIND_U16, .value.u16 = 60000}, "60000"},
        {{.kind = AMQP_FIELD_KIND_U32, .value.u32 = 4000000000u}, "4000000000"},
        {{.kind = AMQP_FIELD_KIND_I64, .value.i64 = INT64_MIN}, "-9223372036854775808"},
        {{.kind = AMQP_FIELD_KIND_U64, .value.u64 = UINT64_MAX}, "18446744073709551615"},
        {{.kind = AMQP_FIELD_KIND_F64, .value.f64 = 0.25}, "0.25"},
        {{.kind = AMQP_FIELD_KIND_F32, .value.f32 = 1.5f}, "1.5"},
        {{.kind = AMQP_FIELD_KIND_DECIMAL, .value.decimal = {2, 150}}, "1.5"},
        {{.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}, "true"},
        {{.kind = AMQP_FIELD_KIND_VOID}, "null"},
        {{.kind = AMQP_FIELD_KIND_TIMESTAMP, .value.u64 = 1700000000},
         "\"2023-11-14T22:13:20.000Z\""},
        {{.kind = AMQP_FIELD_KIND_TIMESTAMP, .value.u64 = UINT64_MAX}, "18446744073709551615"},
        {{.kind = AMQP_FIELD_KIND_ARRAY, .value.array = {2, items}}, "[-1,\"a\\\"b\"]"},
        {{.kind = AMQP_FIELD_KIND_TABLE, .value.table = {1, &member}}, "{\"k\":null}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char memory[128];
        struct buf out;
        buf_init_fixed(&out, memory, sizeof memory);
        rabbit_table_text(&cases[i].value, &out);
        assert_bytes(buf_view(&out), cases[i].text);
    }
}

static void what_is_nested_too_deep_is_null(void **state) {
    (void)state;
    enum { DEEP = RABBIT_TABLE_DEPTH_MAX + 10 };
    amqp_field_value_t levels[DEEP];
    struct buf out;
    struct json parsed;
    levels[0] = number(1);
    for (int i = 1; i < DEEP; i++)
        levels[i] =
            (amqp_field_value_t){.kind = AMQP_FIELD_KIND_ARRAY, .value.array = {1, &levels[i - 1]}};
    buf_init_heap(&out, 4096);
    rabbit_table_text(&levels[DEEP - 1], &out);
    assert_int_equal(json_parse(buf_view(&out), &parsed, NULL), STATUS_OK);
    assert_true(bytes_find(buf_view(&out), BYTES("null")) < out.len);
    buf_free(&out);
}

static struct bytes find_text(const struct rule_header *texts, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (bytes_is(texts[i].name, name))
            return texts[i].value;
    return BYTES_NONE;
}

static const amqp_field_value_t *find_out(const amqp_basic_properties_t *out, const char *name) {
    return rabbit_table_find(&out->headers, name);
}

/* As a producer sent it, and a quorum queue gave it after a death. */
static amqp_basic_properties_t came(amqp_table_entry_t *entries, int count) {
    return (amqp_basic_properties_t){
        ._flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG |
                  AMQP_BASIC_PRIORITY_FLAG | AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_USER_ID_FLAG |
                  AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG,
        .headers = {count, entries},
        .correlation_id = amqp_cstring_bytes("c-7"),
        .priority = 3,
        .expiration = amqp_cstring_bytes("1000"),
        .user_id = amqp_cstring_bytes("guest"),
        .delivery_mode = 1,
        .timestamp = 1700000000};
}

static void a_message_goes_back_with_the_types_that_it_came_with(void **state) {
    (void)state;
    struct arena arena;
    amqp_pool_t pool;
    struct rule_header texts[TEXTS_MAX];
    amqp_table_entry_t entries[] = {
        entry("tries", number(2)),        entry("changed", number(5)),
        entry("gone", number(6)),         entry("x-delivery-count", number(4)),
        entry("x-death", number(1)),      entry("CC", text("elsewhere")),
        entry("impound-key", text("k-1"))};
    amqp_basic_properties_t properties = came(entries, 7), out;
    arena_init_heap(&arena, 512);
    init_amqp_pool(&pool, 4096);
    size_t count = rabbit_properties_texts(&properties, &arena, texts, TEXTS_MAX);
    assert_bytes(find_text(texts, count, "tries"), "2");
    assert_bytes(find_text(texts, count, "correlation_id"), "c-7");
    assert_bytes(find_text(texts, count, "priority"), "3");
    assert_bytes(find_text(texts, count, "timestamp"), "1700000000");
    assert_null(find_text(texts, count, "x-delivery-count").ptr);
    assert_null(find_text(texts, count, "impound-key").ptr);

    struct bytes kept = rabbit_properties_encode(&properties, &arena);
    struct rule_header sent[] = {{BYTES("tries"), BYTES("2")},
                                 {BYTES("changed"), BYTES("other")},
                                 {BYTES("x-death"), BYTES("1")},
                                 {BYTES("CC"), BYTES("elsewhere")},
                                 {BYTES("correlation_id"), BYTES("c-7")},
                                 {BYTES("added"), BYTES("yes")}};
    struct sink_item item = {.id = BYTES("m-1"),
                             .key = BYTES("k-1"),
                             .content_type = BYTES("text/plain"),
                             .headers = sent,
                             .header_count = 6};
    rabbit_properties_make(&item, kept, &pool, &out);
    assert_int_equal(find_out(&out, "tries")->kind, AMQP_FIELD_KIND_I32);
    assert_int_equal(find_out(&out, "changed")->kind, AMQP_FIELD_KIND_UTF8);
    assert_non_null(find_out(&out, "added"));
    assert_non_null(find_out(&out, "impound-key"));
    static const char *const absent[] = {"gone", "x-death", "CC", "x-delivery-count",
                                         "correlation_id"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(find_out(&out, absent[i]));
    assert_int_equal(out._flags, AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG |
                                     AMQP_BASIC_PRIORITY_FLAG | AMQP_BASIC_TIMESTAMP_FLAG |
                                     AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG);
    assert_int_equal(out.delivery_mode, 2);
    assert_int_equal(out.priority, 3);
    empty_amqp_pool(&pool);
    arena_free(&arena);
}

static void what_never_was_rabbits_goes_with_texts(void **state) {
    (void)state;
    amqp_pool_t pool;
    amqp_basic_properties_t out;
    struct rule_header sent[] = {{BYTES("type"), BYTES("order")}};
    struct sink_item item = {.id = BYTES("m-1"), .headers = sent, .header_count = 1};
    init_amqp_pool(&pool, 4096);
    rabbit_properties_make(&item, BYTES_NONE, &pool, &out);
    assert_int_equal(out._flags, AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                                     AMQP_BASIC_MESSAGE_ID_FLAG);
    assert_int_equal(out.headers.num_entries, 1);
    assert_int_equal(find_out(&out, "type")->kind, AMQP_FIELD_KIND_UTF8);
    empty_amqp_pool(&pool);
}

/* As in a mirrored letter. One that is too long for a property stays a header. */
static void what_it_is_correlated_by_is_a_property(void **state) {
    (void)state;
    amqp_pool_t pool;
    amqp_basic_properties_t out;
    char text[300];
    memset(text, 'c', sizeof text);
    struct rule_header sent[] = {{BYTES("tenant"), BYTES("t1")},
                                 {BYTES("correlation_id"), BYTES("c-7")}};
    struct sink_item item = {.id = BYTES("m-1"), .headers = sent, .header_count = 2};
    init_amqp_pool(&pool, 4096);
    rabbit_properties_make(&item, BYTES_NONE, &pool, &out);
    assert_true(out._flags & AMQP_BASIC_CORRELATION_ID_FLAG);
    assert_bytes(rabbit_text(out.correlation_id), "c-7");
    assert_int_equal(out.headers.num_entries, 1);
    assert_null(find_out(&out, "correlation_id"));
    sent[1].value = (struct bytes){text, sizeof text};
    rabbit_properties_make(&item, BYTES_NONE, &pool, &out);
    assert_false(out._flags & AMQP_BASIC_CORRELATION_ID_FLAG);
    assert_non_null(find_out(&out, "correlation_id"));
    empty_amqp_pool(&pool);
}

static void how_often_it_was_given_is_no_part_of_what_it_is(void **state) {
    (void)state;
    struct arena arena;
    arena_init_heap(&arena, 512);
    amqp_table_entry_t first[] = {entry("a", number(1)), entry("x-delivery-count", number(0))};
    amqp_table_entry_t second[] = {entry("a", number(1)), entry("x-delivery-count", number(1))};
    amqp_table_entry_t other[] = {entry("a", number(2)), entry("x-delivery-count", number(0))};
    amqp_basic_properties_t one = came(first, 2), two = came(second, 2), three = came(other, 2);
    struct bytes bytes = rabbit_properties_encode(&one, &arena);
    assert_true(bytes_eq(bytes, rabbit_properties_encode(&two, &arena)));
    assert_false(bytes_eq(bytes, rabbit_properties_encode(&three, &arena)));
    arena_free(&arena);
}

static void a_frame_has_room_for_what_is_around_them(void **state) {
    (void)state;
    enum { AROUND = 20 };
    char room[256];
    struct arena arena;
    amqp_table_entry_t header = entry("tenant", text("t1"));
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_HEADERS_FLAG,
                                          .headers = {1, &header}};
    arena_init_heap(&arena, 256);
    int size = (int)rabbit_properties_encode(&properties, &arena).len;
    assert_true(rabbit_properties_fit(&properties, size + AROUND, room));
    assert_false(rabbit_properties_fit(&properties, size + AROUND - 1, room));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_has_a_text),
        cmocka_unit_test(what_is_nested_too_deep_is_null),
        cmocka_unit_test(a_message_goes_back_with_the_types_that_it_came_with),
        cmocka_unit_test(what_never_was_rabbits_goes_with_texts),
        cmocka_unit_test(what_it_is_correlated_by_is_a_property),
        cmocka_unit_test(how_often_it_was_given_is_no_part_of_what_it_is),
        cmocka_unit_test(a_frame_has_room_for_what_is_around_them),
    };
    return cmocka_run_group_tests_name("rabbit_properties", tests, NULL, NULL);
}
