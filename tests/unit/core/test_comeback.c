#include "test.h"

#include "core/comeback.h"

#define LETTER "01909af4-0000-7000-8000-000000000001"

static const struct rule_header marks[] = {{{"a", 1}, {"1", 1}},
                                           {{"impound-letter", 14}, {LETTER, 36}},
                                           {{"IMPOUND-REPLAYS", 15}, {"2", 1}}};

static struct envelope letter_sent(void) {
    return (struct envelope){.letter_id = BYTES(LETTER),
                             .queue = BYTES("orders"),
                             .state = STATE_RESOLVED,
                             .resolution = RESOLUTION_REPLAYED,
                             .to_origin = true,
                             .replays = 2};
}

static const struct comeback second = {{LETTER, 36}, 2};

static enum comeback_is judged(const struct envelope *letter) {
    return comeback_judge(&second, letter, BYTES("orders"), true);
}

static void the_two_headers_are_read_whatever_their_case(void **state) {
    struct comeback comeback;
    (void)state;
    assert_true(comeback_read(marks, 3, &comeback));
    assert_bytes(comeback.letter, LETTER);
    assert_int_equal(comeback.replays, 2);
}

static void without_both_headers_a_message_was_never_sent(void **state) {
    static const char *const counts[] = {"", "0", "-1", "two", "99999999999999999999"};
    struct comeback comeback;
    (void)state;
    assert_false(comeback_read(NULL, 0, &comeback));
    assert_false(comeback_read(marks, 2, &comeback));
    assert_false(comeback_read(marks + 2, 1, &comeback));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct rule_header headers[] = {marks[1], {BYTES(COMEBACK_REPLAYS), bytes_of(counts[i])}};
        assert_false(comeback_read(headers, 2, &comeback));
    }
}

static void what_was_sent_and_comes_is_the_letter_again(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    assert_int_equal(judged(&letter), COMEBACK_SAME);
}

static void before_its_sending_is_recorded_it_is_early(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    letter.state = STATE_REPLAYING;
    letter.resolution = RESOLUTION_NONE;
    assert_int_equal(judged(&letter), COMEBACK_EARLY);
}

static void a_second_copy_is_held_already(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    letter.to_origin = false;
    letter.state = STATE_REPLAYING;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
    letter.state = STATE_PENDING_REVIEW;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
    letter.state = STATE_RESOLVED;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
}

static void a_copy_of_an_earlier_round_is_held_already(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    letter.replays = 3;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
}

/* People said what is to become of it while it was on its way. */
static void what_was_decided_otherwise_stays_decided(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    letter.state = STATE_DISCARDED;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
    letter.state = STATE_RESOLVED;
    letter.resolution = RESOLUTION_BY_HAND;
    assert_int_equal(judged(&letter), COMEBACK_HELD);
}

static void headers_that_somebody_copied_make_no_letter(void **state) {
    struct envelope letter = letter_sent();
    (void)state;
    assert_int_equal(comeback_judge(&second, &letter, BYTES("shipping"), true), COMEBACK_STRANGER);
    assert_int_equal(comeback_judge(&second, &letter, BYTES("orders"), false), COMEBACK_STRANGER);
    letter.replays = 1;
    assert_int_equal(judged(&letter), COMEBACK_STRANGER);
    letter = letter_sent();
    letter.letter_id = BYTES("another");
    assert_int_equal(judged(&letter), COMEBACK_STRANGER);
}

static void the_letter_is_where_it_came_from_now(void **state) {
    struct envelope letter = letter_sent();
    struct envelope came = {.headers = marks,
                            .header_count = 3,
                            .source = BYTES("{\"offset\":9}"),
                            .key = BYTES("k"),
                            .content_type = BYTES("text/plain")};
    struct arena arena;
    (void)state;
    arena_init_heap(&arena, 256);
    comeback_join(&letter, &came, &arena);
    assert_bytes(letter.letter_id, LETTER);
    assert_bytes(letter.source, "{\"offset\":9}");
    assert_bytes(letter.key, "k");
    assert_bytes(letter.content_type, "text/plain");
    assert_int_equal(letter.header_count, 1);
    assert_bytes(letter.headers[0].name, "a");
    assert_int_equal(letter.replays, 2);
    assert_false(letter.to_origin);
    arena_free(&arena);
}

static void a_letter_is_sent_with_the_marks_of_this_round_alone(void **state) {
    struct envelope letter = letter_sent();
    const struct rule_header *headers;
    struct comeback comeback;
    struct arena arena;
    (void)state;
    arena_init_heap(&arena, 256);
    letter.headers = marks;
    letter.header_count = 3;
    letter.replays = 7;
    assert_int_equal(comeback_headers(&letter, &arena, &headers), 3);
    assert_bytes(headers[0].name, "a");
    assert_true(comeback_read(headers, 3, &comeback));
    assert_bytes(comeback.letter, LETTER);
    assert_int_equal(comeback.replays, 7);
    arena_free(&arena);
}

/* The id that it had at its source is a fact of this store: the origin never sees it. */
static void the_id_of_its_source_stays_with_the_letter_and_is_not_sent(void **state) {
    static const struct rule_header own[] = {{{"a", 1}, {"1", 1}},
                                             {{"impound-source-id", 17}, {"o-1", 3}}};
    struct envelope letter = letter_sent();
    struct envelope came = {.headers = marks, .header_count = 3};
    const struct rule_header *headers;
    struct arena arena;
    (void)state;
    arena_init_heap(&arena, 256);
    letter.headers = own;
    letter.header_count = 2;
    assert_int_equal(comeback_headers(&letter, &arena, &headers), 3);
    for (size_t i = 0; i < 3; i++)
        assert_false(bytes_eq_nocase(headers[i].name, BYTES(COMEBACK_SOURCE_ID)));
    comeback_join(&letter, &came, &arena);
    assert_int_equal(letter.header_count, 2);
    assert_bytes(letter.headers[1].name, "impound-source-id");
    assert_bytes(letter.headers[1].value, "o-1");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_headers_are_read_whatever_their_case),
        cmocka_unit_test(without_both_headers_a_message_was_never_sent),
        cmocka_unit_test(what_was_sent_and_comes_is_the_letter_again),
        cmocka_unit_test(before_its_sending_is_recorded_it_is_early),
        cmocka_unit_test(a_second_copy_is_held_already),
        cmocka_unit_test(a_copy_of_an_earlier_round_is_held_already),
        cmocka_unit_test(what_was_decided_otherwise_stays_decided),
        cmocka_unit_test(headers_that_somebody_copied_make_no_letter),
        cmocka_unit_test(the_letter_is_where_it_came_from_now),
        cmocka_unit_test(a_letter_is_sent_with_the_marks_of_this_round_alone),
        cmocka_unit_test(the_id_of_its_source_stays_with_the_letter_and_is_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
