/* Deliveries in flight, during a connection and after its end. */
#include "test.h"

#include <stdio.h>

#include "broker/common/inflight.h"

static struct delivery *fetched_with(const char *id, const char *body, uint64_t tag) {
    struct message *held = message_new();
    held->envelope.id = arena_dup(&held->arena, bytes_of(id));
    held->body = arena_dup(&held->arena, bytes_of(body));
    struct delivery *delivery = delivery_new(held);
    delivery->tag = tag;
    return delivery;
}

static struct delivery *fetched(const char *id, uint64_t tag) {
    return fetched_with(id, "body", tag);
}

static struct message *receive_one(struct inflight *inflight, int64_t now_ms) {
    struct message *held = NULL;
    inflight_receive(inflight, (struct mono){now_ms}, &held, 1);
    return held;
}

static void settle(struct inflight *inflight, struct message *held, enum state state) {
    held->envelope.state = state;
    inflight_settle(inflight, held);
    message_free(held);
}

static void assert_sends(struct inflight *inflight, uint64_t tag) {
    struct delivery_ack word;
    assert_true(inflight_send(inflight, &word));
    assert_int_equal(word.tag, tag);
    assert_null(word.reply);
}

static void assert_sends_nothing(struct inflight *inflight) {
    struct delivery_ack word;
    assert_false(inflight_send(inflight, &word));
}

static void messages_are_received_in_order_and_told_of_once(void **state) {
    (void)state;
    struct inflight inflight;
    struct message *held[8];
    inflight_init(&inflight);
    assert_true(inflight_put(&inflight, fetched("a", 1), false, false));
    assert_true(inflight_put(&inflight, fetched("b", 2), false, false));
    assert_true(inflight_put(&inflight, fetched("c", 3), false, false));
    assert_int_equal(inflight_ready(&inflight), 3);
    assert_int_equal(inflight_count(&inflight), 3);
    assert_int_equal(inflight_receive(&inflight, (struct mono){0}, held, 2), 2);
    assert_bytes(held[0]->envelope.id, "a");
    assert_bytes(held[1]->envelope.id, "b");
    assert_int_equal(inflight_ready(&inflight), 1);
    assert_sends_nothing(&inflight);
    settle(&inflight, held[1], STATE_PENDING_REVIEW);
    struct delivery_ack sent;
    assert_true(inflight_send(&inflight, &sent));
    assert_int_equal(sent.tag, 2);
    assert_true(sent.letter);
    assert_sends_nothing(&inflight);
    settle(&inflight, held[0], STATE_RUNNING);
    assert_true(inflight_send(&inflight, &sent));
    assert_int_equal(sent.tag, 1);
    assert_false(sent.letter);
    assert_int_equal(inflight_count(&inflight), 3);
    inflight_acknowledged(&inflight);
    assert_int_equal(inflight_count(&inflight), 1);
    inflight_send_again(&inflight);
    assert_sends_nothing(&inflight);
    inflight_free(&inflight);
}

static void what_was_not_heard_is_told_again(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("a", 1), false, false);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_sends(&inflight, 1);
    inflight_send_again(&inflight);
    assert_sends(&inflight, 1);
    inflight_free(&inflight);
}

static void what_is_handed_back_comes_again_when_it_is_due_and_behind_the_others(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    assert_int_equal(inflight_next_wake(&inflight).ms, MONO_NEVER.ms);
    inflight_put(&inflight, fetched("a", 1), false, false);
    inflight_hand_back(&inflight, receive_one(&inflight, 0), (struct mono){500});
    assert_null(receive_one(&inflight, 499));
    assert_int_equal(inflight_next_wake(&inflight).ms, 500);
    inflight_put(&inflight, fetched("b", 2), false, false);
    assert_int_equal(inflight_next_wake(&inflight).ms, 0);
    struct message *b = receive_one(&inflight, 499);
    assert_bytes(b->envelope.id, "b");
    struct message *a = receive_one(&inflight, 500);
    assert_bytes(a->envelope.id, "a");
    settle(&inflight, a, STATE_RUNNING);
    settle(&inflight, b, STATE_RUNNING);
    inflight_free(&inflight);
}

static void a_message_in_the_engines_hands_that_comes_again_is_not_another(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("a", 1), false, false);
    struct message *held = receive_one(&inflight, 0);
    inflight_forget_tags(&inflight);
    assert_false(inflight_put(&inflight, fetched("a", 7), true, false));
    assert_null(receive_one(&inflight, 0));
    settle(&inflight, held, STATE_RUNNING);
    assert_sends(&inflight, 7);
    inflight_free(&inflight);
}

static void what_was_settled_meanwhile_is_acknowledged_when_it_comes_again(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("meanwhile", 1), false, false);
    inflight_put(&inflight, fetched("before", 2), false, false);
    inflight_put(&inflight, fetched("unheard", 3), false, false);
    struct message *meanwhile = receive_one(&inflight, 0), *before = receive_one(&inflight, 0);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_sends(&inflight, 3);
    settle(&inflight, before, STATE_RUNNING);
    inflight_forget_tags(&inflight);
    settle(&inflight, meanwhile, STATE_RUNNING);
    assert_sends_nothing(&inflight);
    assert_false(inflight_put(&inflight, fetched("before", 11), true, false));
    assert_false(inflight_put(&inflight, fetched("unheard", 12), true, false));
    assert_false(inflight_put(&inflight, fetched("meanwhile", 13), true, false));
    assert_sends(&inflight, 11);
    assert_sends(&inflight, 12);
    assert_sends(&inflight, 13);
    assert_null(receive_one(&inflight, 0));
    inflight_free(&inflight);
}

static void the_end_of_a_connection_drops_what_nobody_had(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("a", 1), false, false);
    inflight_put(&inflight, fetched("b", 2), false, false);
    inflight_hand_back(&inflight, receive_one(&inflight, 0), (struct mono){500});
    inflight_forget_tags(&inflight);
    assert_null(receive_one(&inflight, 900));
    assert_true(inflight_put(&inflight, fetched("b", 1), true, false));
    assert_false(inflight_put(&inflight, fetched("a", 2), true, false));
    struct message *b = receive_one(&inflight, 499);
    assert_bytes(b->envelope.id, "b");
    assert_null(receive_one(&inflight, 499)); /* a keeps its due time */
    settle(&inflight, b, STATE_RUNNING);
    inflight_forget_tags(&inflight);
    inflight_forget_tags(&inflight); /* a did not come again in a whole connection */
    assert_true(inflight_put(&inflight, fetched("a", 1), true, false));
    struct message *a = receive_one(&inflight, 0);
    assert_bytes(a->envelope.id, "a");
    settle(&inflight, a, STATE_RUNNING);
    inflight_free(&inflight);
}

static void alike_is_not_the_same_while_the_tag_is_good(void **state) {
    (void)state;
    struct inflight inflight;
    struct message *held[2];
    inflight_init(&inflight);
    assert_true(inflight_put(&inflight, fetched("tick", 1), false, false));
    assert_true(inflight_put(&inflight, fetched("tick", 2), true, false));
    assert_int_equal(inflight_receive(&inflight, (struct mono){0}, held, 2), 2);
    settle(&inflight, held[0], STATE_RUNNING);
    settle(&inflight, held[1], STATE_RUNNING);
    inflight_forget_tags(&inflight);
    /* One that the server gives for the first time is new, whatever it looks like. */
    assert_true(inflight_put(&inflight, fetched("tick", 1), false, false));
    assert_false(inflight_put(&inflight, fetched("tick", 2), true, false));
    assert_false(inflight_put(&inflight, fetched("tick", 3), true, false));
    assert_true(inflight_put(&inflight, fetched("tick", 4), true, false));
    inflight_free(&inflight);
}

/* The server had heard of the first, and its producer uses its id again. */
static void another_body_is_another_message(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched_with("order-7", "placed", 1), true, false);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_sends(&inflight, 1);
    inflight_forget_tags(&inflight);
    assert_true(inflight_put(&inflight, fetched_with("order-7", "paid", 2), true, false));
    assert_false(inflight_put(&inflight, fetched_with("order-7", "placed", 3), true, false));
    assert_sends(&inflight, 3);
    assert_sends_nothing(&inflight);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_sends(&inflight, 2);
    inflight_free(&inflight);
}

static void one_tag_tells_of_all_before_it_that_are_settled(void **state) {
    (void)state;
    struct inflight inflight;
    struct message *held[5];
    inflight_init(&inflight);
    for (uint64_t tag = 1; tag <= 6; tag++)
        inflight_put(&inflight, fetched("alike", tag), false, false);
    assert_int_equal(inflight_receive(&inflight, (struct mono){0}, held, 5), 5);
    assert_int_equal(inflight_send_up_to(&inflight), 0);
    settle(&inflight, held[1], STATE_RUNNING);
    settle(&inflight, held[3], STATE_RUNNING);
    settle(&inflight, held[0], STATE_RUNNING);
    assert_int_equal(inflight_send_up_to(&inflight), 2);
    assert_int_equal(inflight_send_up_to(&inflight), 0);
    assert_sends(&inflight, 4);
    settle(&inflight, held[4], STATE_RUNNING);
    settle(&inflight, held[2], STATE_RUNNING);
    assert_int_equal(inflight_send_up_to(&inflight), 5); /* 6 was not received yet */
    assert_sends_nothing(&inflight);
    inflight_free(&inflight);
}

static void what_was_handed_back_holds_up_those_behind_it(void **state) {
    (void)state;
    struct inflight inflight;
    struct message *held[3];
    inflight_init(&inflight);
    for (uint64_t tag = 1; tag <= 3; tag++)
        inflight_put(&inflight, fetched("alike", tag), false, false);
    assert_int_equal(inflight_receive(&inflight, (struct mono){0}, held, 3), 3);
    inflight_hand_back(&inflight, held[1], (struct mono){500});
    settle(&inflight, held[0], STATE_RUNNING);
    settle(&inflight, held[2], STATE_RUNNING);
    assert_int_equal(inflight_send_up_to(&inflight), 1);
    settle(&inflight, receive_one(&inflight, 500), STATE_RUNNING);
    assert_int_equal(inflight_send_up_to(&inflight), 3);
    inflight_free(&inflight);
}

static void many_deliveries_are_acknowledged_one_by_one(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    for (uint64_t tag = 1; tag <= INFLIGHT_RUN_MAX + 1; tag++)
        inflight_put(&inflight, fetched("alike", tag), false, false);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_int_equal(inflight_send_up_to(&inflight), 0);
    assert_sends(&inflight, 1);
    inflight_free(&inflight);
}

static void what_comes_no_more_is_forgotten(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("alike", 1), false, false);
    inflight_put(&inflight, fetched("named", 2), false, false);
    struct message *first = receive_one(&inflight, 0), *second = receive_one(&inflight, 0);
    inflight_forget_tags(&inflight);
    settle(&inflight, first, STATE_RUNNING);
    settle(&inflight, second, STATE_RUNNING);
    assert_int_equal(inflight_count(&inflight), 2);
    inflight_forget_lost(&inflight);
    assert_int_equal(inflight_count(&inflight), 0);
    assert_true(inflight_put(&inflight, fetched("alike", 11), true, false));
    assert_true(inflight_put(&inflight, fetched("named", 12), true, false));
    inflight_free(&inflight);
}

static void where_tags_last_a_message_is_known_whatever_becomes_of_it(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("s:1", 1), true, true);
    assert_false(inflight_put(&inflight, fetched("s:1", 2), true, true));
    struct message *held = receive_one(&inflight, 0);
    assert_null(receive_one(&inflight, 0));
    settle(&inflight, held, STATE_RUNNING);
    assert_sends(&inflight, 2);
    assert_false(inflight_put(&inflight, fetched("s:1", 3), true, true));
    assert_sends(&inflight, 3);
    inflight_free(&inflight);
}

static struct delivery *with_reply(const char *reply) {
    struct delivery *delivery = fetched("s:1", 0);
    delivery->reply = bytes_dup(bytes_of(reply));
    return delivery;
}

static void what_is_being_told_outlives_the_message_that_comes_again(void **state) {
    (void)state;
    struct inflight inflight;
    struct delivery_ack word;
    inflight_init(&inflight);
    inflight_put(&inflight, with_reply("ack.1"), true, true);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    assert_true(inflight_send(&inflight, &word));
    assert_false(inflight_put(&inflight, with_reply("ack.2"), true, true));
    inflight_acknowledged(&inflight);
    assert_string_equal(word.reply, "ack.1");
    free(word.reply);
    assert_true(inflight_send(&inflight, &word));
    assert_string_equal(word.reply, "ack.2");
    free(word.reply);
    inflight_free(&inflight);
}

static void only_what_costs_nothing_goes_back_the_youngest_first(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("handed back", 1), false, false);
    inflight_hand_back(&inflight, receive_one(&inflight, 0), (struct mono){0});
    struct delivery *counted = fetched("counted", 2);
    counted->keep = true;
    inflight_put(&inflight, counted, false, false);
    inflight_put(&inflight, fetched("a", 3), false, false);
    inflight_put(&inflight, fetched("b", 4), false, false);
    for (uint64_t tag = 4; tag >= 3; tag--) {
        struct delivery *delivery = inflight_return(&inflight, false);
        assert_int_equal(delivery->tag, tag);
        delivery_free(delivery);
    }
    assert_null(inflight_return(&inflight, false));
    assert_int_equal(inflight_ready(&inflight), 2);
    struct delivery *last = inflight_return(&inflight, true);
    assert_bytes(last->id, "counted");
    delivery_free(last);
    inflight_free(&inflight);
}

static void what_never_comes_again_is_forgotten_in_the_end(void **state) {
    (void)state;
    struct inflight inflight;
    inflight_init(&inflight);
    for (uint64_t i = 0; i < INFLIGHT_LOST_MAX + 10; i++) {
        char id[32];
        snprintf(id, sizeof id, "m-%llu", (unsigned long long)i);
        inflight_put(&inflight, fetched(id, i), false, false);
        settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    }
    inflight_forget_tags(&inflight);
    assert_int_equal(inflight.lost, INFLIGHT_LOST_MAX);
    assert_true(inflight_put(&inflight, fetched("m-9", 1), true, false));
    assert_false(inflight_put(&inflight, fetched("m-10", 2), true, false));
    inflight_free(&inflight);
}

static void count_one(const struct delivery *delivery, void *arg) {
    (void)delivery;
    ++*(size_t *)arg;
}

static void open_deliveries_are_those_that_are_not_settled(void **state) {
    (void)state;
    struct inflight inflight;
    size_t open = 0;
    inflight_init(&inflight);
    inflight_put(&inflight, fetched("a", 1), false, false);
    inflight_put(&inflight, fetched("b", 2), false, false);
    inflight_put(&inflight, fetched("c", 3), false, false);
    settle(&inflight, receive_one(&inflight, 0), STATE_RUNNING);
    struct message *out = receive_one(&inflight, 0);
    inflight_each_open(&inflight, count_one, &open);
    assert_int_equal(open, 2);
    settle(&inflight, out, STATE_RUNNING);
    inflight_free(&inflight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_received_in_order_and_told_of_once),
        cmocka_unit_test(what_was_not_heard_is_told_again),
        cmocka_unit_test(what_is_handed_back_comes_again_when_it_is_due_and_behind_the_others),
        cmocka_unit_test(a_message_in_the_engines_hands_that_comes_again_is_not_another),
        cmocka_unit_test(what_was_settled_meanwhile_is_acknowledged_when_it_comes_again),
        cmocka_unit_test(the_end_of_a_connection_drops_what_nobody_had),
        cmocka_unit_test(alike_is_not_the_same_while_the_tag_is_good),
        cmocka_unit_test(another_body_is_another_message),
        cmocka_unit_test(one_tag_tells_of_all_before_it_that_are_settled),
        cmocka_unit_test(what_was_handed_back_holds_up_those_behind_it),
        cmocka_unit_test(many_deliveries_are_acknowledged_one_by_one),
        cmocka_unit_test(what_comes_no_more_is_forgotten),
        cmocka_unit_test(where_tags_last_a_message_is_known_whatever_becomes_of_it),
        cmocka_unit_test(what_is_being_told_outlives_the_message_that_comes_again),
        cmocka_unit_test(only_what_costs_nothing_goes_back_the_youngest_first),
        cmocka_unit_test(what_never_comes_again_is_forgotten_in_the_end),
        cmocka_unit_test(open_deliveries_are_those_that_are_not_settled),
    };
    return cmocka_run_group_tests_name("inflight", tests, NULL, NULL);
}
