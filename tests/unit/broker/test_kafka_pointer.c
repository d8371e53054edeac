/* What is a pointer, and what becomes of it; and who waits behind one. */
#include "broker/kafka/kafka_pointer.h"

#include "test.h"

#include "broker/kafka/consume/pointer_queue.h"

#define DEAD       "{\"kind\":\"kafka\",\"topic\":\"dlq.orders\",\"partition\":0,\"offset\":7"
#define NULL_VALUE DEAD ",\"tombstone\":true}"
#define H(name, value)                                                                             \
    {                                                                                              \
        {"__dlq.errors." name, sizeof("__dlq.errors." name) - 1}, {                                \
            value, sizeof(value) - 1                                                               \
        }                                                                                          \
    }

enum { HEADERS = 4 };

static const struct rule_header told[HEADERS] = {H("topic", "orders"), H("partition", "3"),
                                                 H("offset", "884201"), H("group", "pricing")};

static struct message *give(const struct rule_header *headers, const char *source) {
    struct message *held = message_new();
    held->envelope.id = BYTES("dlq.orders/0/7");
    held->envelope.source = bytes_of(source);
    held->envelope.headers = headers;
    held->envelope.header_count = HEADERS;
    held->envelope.created_at = (struct wall){1763215787123};
    held->body = BYTES("");
    return held;
}

static bool is_pointer(struct message *held_take) {
    struct kafka_pointer to;
    bool is = kafka_pointer_read(held_take, &to);
    message_free(held_take);
    return is;
}

/* ---- reading ---- */

static void headers_without_key_and_value_point_at_a_record(void **state) {
    (void)state;
    struct kafka_pointer to;
    struct message *held = give(told, NULL_VALUE);
    assert_true(kafka_pointer_read(held, &to));
    assert_string_equal(to.topic, "orders");
    assert_int_equal(to.partition, 3);
    assert_int_equal(to.offset, 884201);
    message_free(held);
}

static void a_record_with_anything_in_it_is_no_pointer(void **state) {
    (void)state;
    struct message *held = give(told, NULL_VALUE);
    held->envelope.key = BYTES("");
    assert_false(is_pointer(held));
    held = give(told, NULL_VALUE);
    held->body = BYTES("x");
    assert_false(is_pointer(held));
    assert_false(is_pointer(give(told, DEAD "}"))); /* an empty value */
    held = give(told, NULL_VALUE);
    held->envelope.header_count = 2;
    assert_false(is_pointer(held));
}

static void what_names_no_place_is_no_pointer(void **state) {
    (void)state;
    static const struct rule_header odd[][HEADERS] = {
        {H("topic", ""), H("partition", "3"), H("offset", "1")},
        {H("topic", ".."), H("partition", "3"), H("offset", "1")},
        {H("topic", "a/b"), H("partition", "3"), H("offset", "1")},
        {H("topic", "a\0b"), H("partition", "3"), H("offset", "1")},
        {H("topic", "orders"), H("partition", "-1"), H("offset", "1")},
        {H("topic", "orders"), H("partition", "2147483648"), H("offset", "1")},
        {H("topic", "orders"), H("partition", "3"), H("offset", "")},
        {H("topic", "orders"), H("partition", "3"), H("offset", "9223372036854775808")},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(is_pointer(give(odd[i], NULL_VALUE)));
    char long_name[KAFKA_POINTER_TOPIC_MAX + 1];
    memset(long_name, 'a', sizeof long_name);
    struct rule_header headers[HEADERS] = {told[0], told[1], told[2], told[3]};
    headers[0].value = (struct bytes){long_name, KAFKA_POINTER_TOPIC_MAX};
    assert_true(is_pointer(give(headers, NULL_VALUE)));
    headers[0].value.len++;
    assert_false(is_pointer(give(headers, NULL_VALUE)));
}

/* ---- following ---- */

static struct message *record(void) {
    static const struct rule_header own[] = {{{"own", 3}, {"1", 1}}};
    struct message *held = message_new();
    held->envelope = (struct envelope){.id = BYTES("orders/3/884201"),
                                       .source = BYTES("{\"kind\":\"kafka\",\"topic\":\"orders\"}"),
                                       .key = BYTES("k"),
                                       .headers = own,
                                       .header_count = 1,
                                       .created_at = {17}};
    held->body = BYTES("the body");
    return held;
}

static void the_record_stands_for_its_pointer(void **state) {
    (void)state;
    struct kafka_pointer to;
    struct message *held = kafka_pointer_become(give(told, NULL_VALUE), record());
    const struct envelope *envelope = &held->envelope;
    assert_bytes(envelope->id, "dlq.orders/0/7");
    assert_bytes(envelope->source, DEAD ",\"dead_at\":\"2025-11-15T14:09:47.123Z\","
                                        "\"origin\":{\"kind\":\"kafka\",\"topic\":\"orders\"}}");
    assert_bytes(envelope->key, "k");
    assert_bytes(held->body, "the body");
    assert_int_equal(envelope->created_at.ms, 17);
    assert_int_equal(envelope->header_count, HEADERS + 1);
    assert_bytes(envelope->headers[0].value, "orders");
    assert_bytes(envelope->headers[HEADERS].name, "own");
    assert_false(kafka_pointer_read(held, &to));
    message_free(held);
}

/* The topic may have been made again, and a stranger stands there; or a clock is ahead. */
static void a_record_that_is_younger_than_its_pointer_is_in_doubt(void **state) {
    (void)state;
    struct message *younger = record(), *timeless = give(told, NULL_VALUE), *alike = record();
    younger->envelope.created_at = (struct wall){1763215787123 + 5001};
    younger = kafka_pointer_become(give(told, NULL_VALUE), younger);
    assert_bytes(younger->envelope.source, DEAD
                 ",\"dead_at\":\"2025-11-15T14:09:47.123Z\","
                 "\"origin\":{\"kind\":\"kafka\",\"topic\":\"orders\","
                 "\"why\":\"the record is from 2025-11-15T14:09:52.124Z, later than the pointer "
                 "to it: the topic was recreated since, or a clock is ahead\"}}");
    assert_bytes(younger->body, "the body");
    message_free(younger);
    alike->envelope.created_at = (struct wall){1763215787123 + 5000};
    alike = kafka_pointer_become(give(told, NULL_VALUE), alike);
    assert_true(bytes_find(alike->envelope.source, BYTES("why")) == alike->envelope.source.len);
    message_free(alike);
    timeless->envelope.created_at = WALL_NEVER;
    timeless = kafka_pointer_become(timeless, record());
    assert_bytes(timeless->envelope.source,
                 DEAD ",\"origin\":{\"kind\":\"kafka\",\"topic\":\"orders\"}}");
    message_free(timeless);
}

static void one_whose_record_is_gone_says_so(void **state) {
    (void)state;
    struct kafka_pointer to;
    struct message *held = give(told, NULL_VALUE);
    held->envelope.created_at = WALL_NEVER;
    kafka_pointer_gone(held, "no \"such\" topic");
    assert_bytes(held->envelope.source,
                 DEAD ",\"origin\":{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":3,"
                      "\"offset\":884201,\"gone\":true,\"why\":\"no \\\"such\\\" topic\"}}");
    assert_int_equal(held->body.len, 0);
    assert_int_equal(held->envelope.header_count, HEADERS);
    assert_false(kafka_pointer_read(held, &to));
    message_free(held);
}

/* ---- the queue behind a pointer ---- */

static void records_behind_a_pointer_wait_for_it_in_their_order(void **state) {
    (void)state;
    struct pointer_queue pointers = {0};
    struct kafka_inflight_record records[] = {{record(), 1, 0},
                                              {give(told, NULL_VALUE), 2, 0},
                                              {record(), 3, 0},
                                              {give(told, NULL_VALUE), 4, 0}};
    assert_int_equal(pointer_queue_begin(&pointers, records, 4), 1);
    assert_int_equal(pointer_queue_clear(&pointers), 0);
    assert_int_equal(pointer_queue_begin(&pointers, records, 1),
                     1); /* no pointer, nothing is queued */
    kafka_pointer_gone(pointers.records[0].held, "gone");
    assert_int_equal(pointer_queue_clear(&pointers), 2);
    assert_int_equal(pointers.records[0].offset, 2);
    message_free(pointers.records[0].held);
    pointer_queue_leave(&pointers, 1);
    assert_int_equal(pointers.records[0].offset, 3);
    assert_int_equal(pointer_queue_clear(&pointers), 1);
    pointer_queue_free(&pointers);
    assert_int_equal(pointers.count, 0);
    message_free(records[0].held);
}

static void what_is_dropped_takes_with_it_what_leads_to_the_same_partition(void **state) {
    (void)state;
    static const struct rule_header other[HEADERS] = {H("topic", "orders"), H("partition", "4"),
                                                      H("offset", "884201"), H("group", "pricing")};
    struct pointer_queue pointers = {0};
    struct kafka_inflight_record records[] = {{give(told, NULL_VALUE), 1, 0},
                                              {record(), 2, 0},
                                              {give(told, NULL_VALUE), 3, 0},
                                              {give(other, NULL_VALUE), 4, 0}};
    assert_int_equal(pointer_queue_begin(&pointers, records, 4), 0);
    pointer_queue_drop(&pointers);
    assert_int_equal(pointers.count, 2);
    assert_int_equal(pointers.records[0].offset, 2);
    assert_int_equal(pointers.records[1].offset, 4);
    message_free(pointers.records[0].held);
    pointer_queue_leave(&pointers, 1);
    pointer_queue_drop(&pointers);
    assert_int_equal(pointers.count, 0);
    assert_null(pointers.records);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_without_key_and_value_point_at_a_record),
        cmocka_unit_test(a_record_with_anything_in_it_is_no_pointer),
        cmocka_unit_test(what_names_no_place_is_no_pointer),
        cmocka_unit_test(the_record_stands_for_its_pointer),
        cmocka_unit_test(a_record_that_is_younger_than_its_pointer_is_in_doubt),
        cmocka_unit_test(one_whose_record_is_gone_says_so),
        cmocka_unit_test(records_behind_a_pointer_wait_for_it_in_their_order),
        cmocka_unit_test(what_is_dropped_takes_with_it_what_leads_to_the_same_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
