/* What is on the shelf, over the life of a connection and its end. */
#include "test.h"

#include <stdio.h>

#include "broker/common/shelf.h"

static struct parcel *fetched_with(const char *id, const char *body, uint64_t tag) {
    struct message *held = message_new();
    held->envelope.id = arena_dup(&held->arena, bytes_of(id));
    held->body = arena_dup(&held->arena, bytes_of(body));
    struct parcel *parcel = parcel_new(held);
    parcel->tag = tag;
    return parcel;
}

static struct parcel *fetched(const char *id, uint64_t tag) {
    return fetched_with(id, "body", tag);
}

static struct message *receive_one(struct shelf *shelf, int64_t now_ms) {
    struct message *held = NULL;
    shelf_receive(shelf, (struct mono){now_ms}, &held, 1);
    return held;
}

static void settle(struct shelf *shelf, struct message *held, enum state state) {
    held->envelope.state = state;
    shelf_settle(shelf, held);
    message_free(held);
}

static void assert_sends(struct shelf *shelf, uint64_t tag) {
    struct parcel_word word;
    assert_true(shelf_send(shelf, &word));
    assert_int_equal(word.tag, tag);
    assert_null(word.reply);
}

static void assert_sends_nothing(struct shelf *shelf) {
    struct parcel_word word;
    assert_false(shelf_send(shelf, &word));
}

static void messages_are_received_in_order_and_told_of_once(void **state) {
    (void)state;
    struct shelf shelf;
    struct message *held[8];
    shelf_init(&shelf);
    assert_true(shelf_put(&shelf, fetched("a", 1), false, false));
    assert_true(shelf_put(&shelf, fetched("b", 2), false, false));
    assert_true(shelf_put(&shelf, fetched("c", 3), false, false));
    assert_int_equal(shelf_ready(&shelf), 3);
    assert_int_equal(shelf_count(&shelf), 3);
    assert_int_equal(shelf_receive(&shelf, (struct mono){0}, held, 2), 2);
    assert_bytes(held[0]->envelope.id, "a");
    assert_bytes(held[1]->envelope.id, "b");
    assert_int_equal(shelf_ready(&shelf), 1);
    assert_sends_nothing(&shelf);
    settle(&shelf, held[1], STATE_PENDING_REVIEW);
    struct parcel_word sent;
    assert_true(shelf_send(&shelf, &sent));
    assert_int_equal(sent.tag, 2);
    assert_true(sent.letter);
    assert_sends_nothing(&shelf);
    settle(&shelf, held[0], STATE_RUNNING);
    assert_true(shelf_send(&shelf, &sent));
    assert_int_equal(sent.tag, 1);
    assert_false(sent.letter);
    assert_int_equal(shelf_count(&shelf), 3);
    shelf_heard(&shelf);
    assert_int_equal(shelf_count(&shelf), 1);
    shelf_unheard(&shelf);
    assert_sends_nothing(&shelf);
    shelf_free(&shelf);
}

static void what_was_not_heard_is_told_again(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("a", 1), false, false);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_sends(&shelf, 1);
    shelf_unheard(&shelf);
    assert_sends(&shelf, 1);
    shelf_free(&shelf);
}

static void what_is_handed_back_comes_again_when_it_is_due_and_behind_the_others(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    assert_int_equal(shelf_next_wake(&shelf).ms, MONO_NEVER.ms);
    shelf_put(&shelf, fetched("a", 1), false, false);
    shelf_hand_back(&shelf, receive_one(&shelf, 0), (struct mono){500});
    assert_null(receive_one(&shelf, 499));
    assert_int_equal(shelf_next_wake(&shelf).ms, 500);
    shelf_put(&shelf, fetched("b", 2), false, false);
    assert_int_equal(shelf_next_wake(&shelf).ms, 0);
    struct message *b = receive_one(&shelf, 499);
    assert_bytes(b->envelope.id, "b");
    struct message *a = receive_one(&shelf, 500);
    assert_bytes(a->envelope.id, "a");
    settle(&shelf, a, STATE_RUNNING);
    settle(&shelf, b, STATE_RUNNING);
    shelf_free(&shelf);
}

static void a_message_in_the_engines_hands_that_comes_again_is_not_another(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("a", 1), false, false);
    struct message *held = receive_one(&shelf, 0);
    shelf_forget_tags(&shelf);
    assert_false(shelf_put(&shelf, fetched("a", 7), true, false));
    assert_null(receive_one(&shelf, 0));
    settle(&shelf, held, STATE_RUNNING);
    assert_sends(&shelf, 7);
    shelf_free(&shelf);
}

static void what_was_settled_meanwhile_is_acknowledged_when_it_comes_again(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("meanwhile", 1), false, false);
    shelf_put(&shelf, fetched("before", 2), false, false);
    shelf_put(&shelf, fetched("unheard", 3), false, false);
    struct message *meanwhile = receive_one(&shelf, 0), *before = receive_one(&shelf, 0);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_sends(&shelf, 3);
    settle(&shelf, before, STATE_RUNNING);
    shelf_forget_tags(&shelf);
    settle(&shelf, meanwhile, STATE_RUNNING);
    assert_sends_nothing(&shelf);
    assert_false(shelf_put(&shelf, fetched("before", 11), true, false));
    assert_false(shelf_put(&shelf, fetched("unheard", 12), true, false));
    assert_false(shelf_put(&shelf, fetched("meanwhile", 13), true, false));
    assert_sends(&shelf, 11);
    assert_sends(&shelf, 12);
    assert_sends(&shelf, 13);
    assert_null(receive_one(&shelf, 0));
    shelf_free(&shelf);
}

static void the_end_of_a_connection_drops_what_nobody_had(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("a", 1), false, false);
    shelf_put(&shelf, fetched("b", 2), false, false);
    shelf_hand_back(&shelf, receive_one(&shelf, 0), (struct mono){500});
    shelf_forget_tags(&shelf);
    assert_null(receive_one(&shelf, 900));
    assert_true(shelf_put(&shelf, fetched("b", 1), true, false));
    assert_false(shelf_put(&shelf, fetched("a", 2), true, false));
    struct message *b = receive_one(&shelf, 499);
    assert_bytes(b->envelope.id, "b");
    assert_null(receive_one(&shelf, 499)); /* a keeps its due time */
    settle(&shelf, b, STATE_RUNNING);
    shelf_forget_tags(&shelf);
    shelf_forget_tags(&shelf); /* a did not come again in a whole connection */
    assert_true(shelf_put(&shelf, fetched("a", 1), true, false));
    struct message *a = receive_one(&shelf, 0);
    assert_bytes(a->envelope.id, "a");
    settle(&shelf, a, STATE_RUNNING);
    shelf_free(&shelf);
}

static void alike_is_not_the_same_while_the_tag_is_good(void **state) {
    (void)state;
    struct shelf shelf;
    struct message *held[2];
    shelf_init(&shelf);
    assert_true(shelf_put(&shelf, fetched("tick", 1), false, false));
    assert_true(shelf_put(&shelf, fetched("tick", 2), true, false));
    assert_int_equal(shelf_receive(&shelf, (struct mono){0}, held, 2), 2);
    settle(&shelf, held[0], STATE_RUNNING);
    settle(&shelf, held[1], STATE_RUNNING);
    shelf_forget_tags(&shelf);
    /* One that the server gives for the first time is new, whatever it looks like. */
    assert_true(shelf_put(&shelf, fetched("tick", 1), false, false));
    assert_false(shelf_put(&shelf, fetched("tick", 2), true, false));
    assert_false(shelf_put(&shelf, fetched("tick", 3), true, false));
    assert_true(shelf_put(&shelf, fetched("tick", 4), true, false));
    shelf_free(&shelf);
}

/* The server had heard of the first, and its producer uses its id again. */
static void another_body_is_another_message(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched_with("order-7", "placed", 1), true, false);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_sends(&shelf, 1);
    shelf_forget_tags(&shelf);
    assert_true(shelf_put(&shelf, fetched_with("order-7", "paid", 2), true, false));
    assert_false(shelf_put(&shelf, fetched_with("order-7", "placed", 3), true, false));
    assert_sends(&shelf, 3);
    assert_sends_nothing(&shelf);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_sends(&shelf, 2);
    shelf_free(&shelf);
}

static void one_tag_tells_of_all_before_it_that_are_settled(void **state) {
    (void)state;
    struct shelf shelf;
    struct message *held[5];
    shelf_init(&shelf);
    for (uint64_t tag = 1; tag <= 6; tag++)
        shelf_put(&shelf, fetched("alike", tag), false, false);
    assert_int_equal(shelf_receive(&shelf, (struct mono){0}, held, 5), 5);
    assert_int_equal(shelf_send_up_to(&shelf), 0);
    settle(&shelf, held[1], STATE_RUNNING);
    settle(&shelf, held[3], STATE_RUNNING);
    settle(&shelf, held[0], STATE_RUNNING);
    assert_int_equal(shelf_send_up_to(&shelf), 2);
    assert_int_equal(shelf_send_up_to(&shelf), 0);
    assert_sends(&shelf, 4);
    settle(&shelf, held[4], STATE_RUNNING);
    settle(&shelf, held[2], STATE_RUNNING);
    assert_int_equal(shelf_send_up_to(&shelf), 5); /* 6 was not received yet */
    assert_sends_nothing(&shelf);
    shelf_free(&shelf);
}

static void what_was_handed_back_holds_up_those_behind_it(void **state) {
    (void)state;
    struct shelf shelf;
    struct message *held[3];
    shelf_init(&shelf);
    for (uint64_t tag = 1; tag <= 3; tag++)
        shelf_put(&shelf, fetched("alike", tag), false, false);
    assert_int_equal(shelf_receive(&shelf, (struct mono){0}, held, 3), 3);
    shelf_hand_back(&shelf, held[1], (struct mono){500});
    settle(&shelf, held[0], STATE_RUNNING);
    settle(&shelf, held[2], STATE_RUNNING);
    assert_int_equal(shelf_send_up_to(&shelf), 1);
    settle(&shelf, receive_one(&shelf, 500), STATE_RUNNING);
    assert_int_equal(shelf_send_up_to(&shelf), 3);
    shelf_free(&shelf);
}

static void a_long_shelf_is_told_of_one_by_one(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    for (uint64_t tag = 1; tag <= SHELF_RUN_MAX + 1; tag++)
        shelf_put(&shelf, fetched("alike", tag), false, false);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_int_equal(shelf_send_up_to(&shelf), 0);
    assert_sends(&shelf, 1);
    shelf_free(&shelf);
}

static void what_comes_no_more_is_forgotten(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("alike", 1), false, false);
    shelf_put(&shelf, fetched("named", 2), false, false);
    struct message *first = receive_one(&shelf, 0), *second = receive_one(&shelf, 0);
    shelf_forget_tags(&shelf);
    settle(&shelf, first, STATE_RUNNING);
    settle(&shelf, second, STATE_RUNNING);
    assert_int_equal(shelf_count(&shelf), 2);
    shelf_forget_lost(&shelf);
    assert_int_equal(shelf_count(&shelf), 0);
    assert_true(shelf_put(&shelf, fetched("alike", 11), true, false));
    assert_true(shelf_put(&shelf, fetched("named", 12), true, false));
    shelf_free(&shelf);
}

static void where_tags_last_a_message_is_known_whatever_becomes_of_it(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("s:1", 1), true, true);
    assert_false(shelf_put(&shelf, fetched("s:1", 2), true, true));
    struct message *held = receive_one(&shelf, 0);
    assert_null(receive_one(&shelf, 0));
    settle(&shelf, held, STATE_RUNNING);
    assert_sends(&shelf, 2);
    assert_false(shelf_put(&shelf, fetched("s:1", 3), true, true));
    assert_sends(&shelf, 3);
    shelf_free(&shelf);
}

static struct parcel *with_reply(const char *reply) {
    struct parcel *parcel = fetched("s:1", 0);
    parcel->reply = bytes_dup(bytes_of(reply));
    return parcel;
}

static void what_is_being_told_outlives_the_message_that_comes_again(void **state) {
    (void)state;
    struct shelf shelf;
    struct parcel_word word;
    shelf_init(&shelf);
    shelf_put(&shelf, with_reply("ack.1"), true, true);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    assert_true(shelf_send(&shelf, &word));
    assert_false(shelf_put(&shelf, with_reply("ack.2"), true, true));
    shelf_heard(&shelf);
    assert_string_equal(word.reply, "ack.1");
    free(word.reply);
    assert_true(shelf_send(&shelf, &word));
    assert_string_equal(word.reply, "ack.2");
    free(word.reply);
    shelf_free(&shelf);
}

static void only_what_costs_nothing_goes_back_the_youngest_first(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("handed back", 1), false, false);
    shelf_hand_back(&shelf, receive_one(&shelf, 0), (struct mono){0});
    struct parcel *counted = fetched("counted", 2);
    counted->keep = true;
    shelf_put(&shelf, counted, false, false);
    shelf_put(&shelf, fetched("a", 3), false, false);
    shelf_put(&shelf, fetched("b", 4), false, false);
    for (uint64_t tag = 4; tag >= 3; tag--) {
        struct parcel *parcel = shelf_return(&shelf, false);
        assert_int_equal(parcel->tag, tag);
        parcel_free(parcel);
    }
    assert_null(shelf_return(&shelf, false));
    assert_int_equal(shelf_ready(&shelf), 2);
    struct parcel *last = shelf_return(&shelf, true);
    assert_bytes(last->id, "counted");
    parcel_free(last);
    shelf_free(&shelf);
}

static void what_never_comes_again_is_forgotten_in_the_end(void **state) {
    (void)state;
    struct shelf shelf;
    shelf_init(&shelf);
    for (uint64_t i = 0; i < SHELF_LOST_MAX + 10; i++) {
        char id[32];
        snprintf(id, sizeof id, "m-%llu", (unsigned long long)i);
        shelf_put(&shelf, fetched(id, i), false, false);
        settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    }
    shelf_forget_tags(&shelf);
    assert_int_equal(shelf.lost, SHELF_LOST_MAX);
    assert_true(shelf_put(&shelf, fetched("m-9", 1), true, false));
    assert_false(shelf_put(&shelf, fetched("m-10", 2), true, false));
    shelf_free(&shelf);
}

static void count_one(const struct parcel *parcel, void *arg) {
    (void)parcel;
    ++*(size_t *)arg;
}

static void open_parcels_are_those_that_are_not_settled(void **state) {
    (void)state;
    struct shelf shelf;
    size_t open = 0;
    shelf_init(&shelf);
    shelf_put(&shelf, fetched("a", 1), false, false);
    shelf_put(&shelf, fetched("b", 2), false, false);
    shelf_put(&shelf, fetched("c", 3), false, false);
    settle(&shelf, receive_one(&shelf, 0), STATE_RUNNING);
    struct message *out = receive_one(&shelf, 0);
    shelf_each_open(&shelf, count_one, &open);
    assert_int_equal(open, 2);
    settle(&shelf, out, STATE_RUNNING);
    shelf_free(&shelf);
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
        cmocka_unit_test(a_long_shelf_is_told_of_one_by_one),
        cmocka_unit_test(what_comes_no_more_is_forgotten),
        cmocka_unit_test(where_tags_last_a_message_is_known_whatever_becomes_of_it),
        cmocka_unit_test(what_is_being_told_outlives_the_message_that_comes_again),
        cmocka_unit_test(only_what_costs_nothing_goes_back_the_youngest_first),
        cmocka_unit_test(what_never_comes_again_is_forgotten_in_the_end),
        cmocka_unit_test(open_parcels_are_those_that_are_not_settled),
    };
    return cmocka_run_group_tests_name("shelf", tests, NULL, NULL);
}
