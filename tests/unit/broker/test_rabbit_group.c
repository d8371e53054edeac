/* What the answers of a server say of each message that was sent. */
#include "test.h"

#include "broker/rabbitmq/rabbit_group.h"

/* Two letters of one body, and how each ended. */
struct pair {
    struct rabbit_group group;
    struct told {
        struct sink_item item;
        amqp_table_entry_t header;
        unsigned times;
        enum status status;
    } told[2];
};

static void note(struct sink_item *item, enum status status, const struct err *err) {
    struct told *told = (struct told *)(void *)item;
    assert_int_equal(status == STATUS_OK, err == NULL);
    told->times++;
    told->status = status;
}

static amqp_table_entry_t letter_id(const char *id) {
    return (amqp_table_entry_t){
        .key = amqp_cstring_bytes("dlq-letter-id"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(id)}};
}

static amqp_basic_properties_t properties_of(const char *id, amqp_table_entry_t *headers,
                                             int count) {
    return (amqp_basic_properties_t){._flags = AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_HEADERS_FLAG,
                                     .message_id = amqp_cstring_bytes(id),
                                     .headers = {count, headers}};
}

static void send_pair(struct pair *pair, const char *first_id, const char *second_id) {
    static const char *const letters[] = {"letter-1", "letter-2"};
    const char *const ids[] = {first_id, second_id};
    *pair = (struct pair){.group.count = 2};
    for (size_t i = 0; i < 2; i++) {
        struct told *told = &pair->told[i];
        told->item = (struct sink_item){.body = BYTES("tick"), .done = note};
        told->header = letter_id(letters[i]);
        pair->group.shipments[i] =
            (struct rabbit_shipment){.item = &told->item,
                                     .tag = i + 1,
                                     .exchange = BYTES("x"),
                                     .routing_key = BYTES("k"),
                                     .properties = properties_of(ids[i], &told->header, 1)};
    }
    rabbit_group_begin(&pair->group);
}

static bool give_back(struct pair *pair, amqp_basic_properties_t properties) {
    amqp_basic_return_t back = {.exchange = amqp_cstring_bytes("x"),
                                .routing_key = amqp_cstring_bytes("k")};
    amqp_message_t message = {.properties = properties, .body = amqp_cstring_bytes("tick")};
    return rabbit_group_return(&pair->group, &back, &message);
}

static void assert_ended(struct pair *pair, enum status first, enum status second) {
    assert_int_equal(pair->told[0].times, 1);
    assert_int_equal(pair->told[1].times, 1);
    assert_int_equal(pair->told[0].status, first);
    assert_int_equal(pair->told[1].status, second);
}

static void what_comes_back_is_known_by_its_headers(void **state) {
    (void)state;
    struct pair pair;
    send_pair(&pair, "m", "m");
    amqp_table_entry_t header = letter_id("letter-2");
    assert_true(give_back(&pair, properties_of("m", &header, 1)));
    rabbit_group_confirm(&pair.group, 2, true, true);
    assert_int_equal(pair.group.open, 0);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_OK, STATUS_NOT_FOUND);
}

static void what_comes_back_is_known_by_its_id(void **state) {
    (void)state;
    struct pair pair;
    send_pair(&pair, "m-1", "m-2");
    pair.told[1].header = letter_id("letter-1");
    amqp_table_entry_t header = letter_id("letter-1");
    assert_true(give_back(&pair, properties_of("m-2", &header, 1)));
    rabbit_group_confirm(&pair.group, 2, true, true);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_OK, STATUS_NOT_FOUND);
}

static void headers_that_a_server_adds_do_no_harm(void **state) {
    (void)state;
    struct pair pair;
    send_pair(&pair, "m", "m");
    amqp_table_entry_t headers[] = {letter_id("letter-2"), letter_id("node-1")};
    headers[1].key = amqp_cstring_bytes("x-routed-by");
    assert_true(give_back(&pair, properties_of("m", headers, 2)));
    rabbit_group_confirm(&pair.group, 2, true, true);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_OK, STATUS_NOT_FOUND);
}

/* Whichever it was, no confirm may be believed. */
static void what_comes_back_and_is_nobodys_is_not_passed_over(void **state) {
    (void)state;
    struct pair pair;
    struct err err = {STATUS_BUSY, "changed"};
    send_pair(&pair, "m", "m");
    amqp_table_entry_t header = letter_id("letter-3");
    assert_false(give_back(&pair, properties_of("m", &header, 1)));
    assert_false(give_back(&pair, properties_of("m", NULL, 0)));
    rabbit_group_finish(&pair.group, &err);
    assert_ended(&pair, STATUS_BUSY, STATUS_BUSY);
}

static void an_answer_may_be_of_one_or_of_several(void **state) {
    (void)state;
    struct pair pair;
    struct err err = {STATUS_UNREACHABLE, "gone"};
    send_pair(&pair, "m-1", "m-2");
    rabbit_group_confirm(&pair.group, 2, false, true);
    assert_int_equal(pair.group.open, 1);
    rabbit_group_finish(&pair.group, &err);
    assert_ended(&pair, STATUS_UNREACHABLE, STATUS_OK);
    send_pair(&pair, "m-1", "m-2");
    rabbit_group_confirm(&pair.group, 2, true, false);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_BUSY, STATUS_BUSY);
}

/* As servers of 3.10 and 4.x put it. */
static void a_limit_is_read_from_the_end_of_a_channel(void **state) {
    (void)state;
    static const struct {
        const char *words;
        uint64_t limit;
    } cases[] = {
        {"PRECONDITION_FAILED - message size 8192 is larger than configured max size 4096", 4096},
        {"PRECONDITION_FAILED - message size 600000000 is larger than max size 536870912",
         536870912},
        {"PRECONDITION_FAILED - message size 8192 is larger than configured max size", 0},
        {"PRECONDITION_FAILED - inequivalent arg 'max size 4096'", 0},
        {"PRECONDITION_FAILED - message size 8192 is larger than configured max size ?", 0},
        {"NOT_FOUND - no exchange 'x' in vhost '/'", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rabbit_group_size_limit(bytes_of(cases[i].words)), cases[i].limit);
}

static void only_what_is_larger_than_the_limit_is_too_large(void **state) {
    (void)state;
    struct pair pair;
    struct err err = {STATUS_UNREACHABLE, "the channel ended"};
    send_pair(&pair, "m-1", "m-2");
    pair.told[1].item.body = BYTES("tick tock");
    rabbit_group_refuse_larger(&pair.group, 4);
    assert_int_equal(pair.group.open, 1);
    rabbit_group_refuse_larger(&pair.group, 4);
    assert_int_equal(pair.group.open, 1);
    rabbit_group_finish(&pair.group, &err);
    assert_ended(&pair, STATUS_UNREACHABLE, STATUS_TOO_LARGE);
}

/* An answer may come twice, and for what was refused before. */
static void who_has_an_answer_is_not_counted_again(void **state) {
    (void)state;
    struct pair pair;
    struct err err = {STATUS_TOO_LARGE, "headers"};
    send_pair(&pair, "m-1", "m-2");
    rabbit_group_confirm(&pair.group, 1, false, true);
    rabbit_group_confirm(&pair.group, 1, false, false);
    assert_int_equal(pair.group.open, 1);
    rabbit_group_refuse(&pair.group, &pair.group.shipments[1], &err);
    rabbit_group_confirm(&pair.group, 2, true, true);
    assert_int_equal(pair.group.open, 0);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_OK, STATUS_TOO_LARGE);
}

/* A write that failed left it here; the answers that came before are of others. */
static void what_was_not_sent_is_never_confirmed(void **state) {
    (void)state;
    struct pair pair;
    struct err err = {STATUS_UNREACHABLE, "gone"};
    send_pair(&pair, "m-1", "m-2");
    pair.group.shipments[1].tag = 0;
    rabbit_group_confirm(&pair.group, 1, true, true);
    amqp_table_entry_t header = letter_id("letter-2");
    assert_false(give_back(&pair, properties_of("m-2", &header, 1)));
    assert_int_equal(pair.group.open, 1);
    rabbit_group_finish(&pair.group, &err);
    assert_ended(&pair, STATUS_OK, STATUS_UNREACHABLE);
}

static void what_is_larger_than_a_known_limit_goes_alone(void **state) {
    (void)state;
    enum { LIMIT = 4 };
    struct rabbit_group small = {.count = 0}, large = {.count = 0};
    struct sink_item four = {.body = BYTES("tick")}, five = {.body = BYTES("ticks")};
    assert_true(rabbit_group_add(&small, &four, LIMIT));
    assert_true(rabbit_group_add(&small, &four, LIMIT));
    assert_false(rabbit_group_add(&small, &five, LIMIT));
    assert_true(rabbit_group_add(&large, &five, LIMIT));
    assert_false(rabbit_group_add(&large, &four, LIMIT));
    assert_false(rabbit_group_add(&large, &five, LIMIT));
    assert_true(rabbit_group_add(&small, &five, 0));
    assert_int_equal(small.count, 3);
    assert_ptr_equal(small.shipments[2].item, &five);
    assert_int_equal(large.count, 1);
}

static void a_group_is_full_at_its_limit(void **state) {
    (void)state;
    struct rabbit_group group = {.count = 0};
    struct sink_item item = {.body = BYTES("tick")};
    for (size_t i = 0; i < RABBIT_GROUP_MAX; i++)
        assert_true(rabbit_group_add(&group, &item, 0));
    assert_false(rabbit_group_add(&group, &item, 0));
    assert_int_equal(group.count, RABBIT_GROUP_MAX);
}

static void what_no_queue_takes_is_redirected_to_its_queue_once(void **state) {
    (void)state;
    struct pair pair;
    send_pair(&pair, "m-1", "m-2");
    pair.group.shipments[1].queue = BYTES("jobs");
    amqp_table_entry_t first = letter_id("letter-1"), second = letter_id("letter-2");
    assert_int_equal(rabbit_group_redirect(&pair.group), 0);
    assert_true(give_back(&pair, properties_of("m-1", &first, 1)));
    assert_true(give_back(&pair, properties_of("m-2", &second, 1)));
    rabbit_group_confirm(&pair.group, 2, true, true);
    assert_int_equal(rabbit_group_redirect(&pair.group), 1);
    struct rabbit_shipment *shipment = &pair.group.shipments[1];
    assert_bytes(shipment->exchange, "");
    assert_bytes(shipment->routing_key, "jobs");
    assert_int_equal(shipment->tag, 0);
    assert_int_equal(pair.group.open, 1);
    shipment->tag = 3;
    rabbit_group_confirm(&pair.group, 3, false, true);
    assert_int_equal(rabbit_group_redirect(&pair.group), 0);
    rabbit_group_finish(&pair.group, NULL);
    assert_ended(&pair, STATUS_NOT_FOUND, STATUS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_back_is_known_by_its_headers),
        cmocka_unit_test(what_comes_back_is_known_by_its_id),
        cmocka_unit_test(headers_that_a_server_adds_do_no_harm),
        cmocka_unit_test(what_comes_back_and_is_nobodys_is_not_passed_over),
        cmocka_unit_test(an_answer_may_be_of_one_or_of_several),
        cmocka_unit_test(a_limit_is_read_from_the_end_of_a_channel),
        cmocka_unit_test(only_what_is_larger_than_the_limit_is_too_large),
        cmocka_unit_test(who_has_an_answer_is_not_counted_again),
        cmocka_unit_test(what_was_not_sent_is_never_confirmed),
        cmocka_unit_test(what_is_larger_than_a_known_limit_goes_alone),
        cmocka_unit_test(a_group_is_full_at_its_limit),
        cmocka_unit_test(what_no_queue_takes_is_redirected_to_its_queue_once),
    };
    return cmocka_run_group_tests_name("rabbit_group", tests, NULL, NULL);
}
