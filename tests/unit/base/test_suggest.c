#include "base/text/suggest.h"

#include "test.h"

static const char *const words[] = {"state",        "category", "reason", "since",
                                    "min_attempts", "q",        "dlq"};

static const char *nearest(const char *word) {
    return suggest_nearest(bytes_of(word), words, sizeof words / sizeof words[0]);
}

static void a_letter_too_few_too_many_or_wrong_is_forgiven(void **state) {
    (void)state;
    assert_string_equal(nearest("stat"), "state");
    assert_string_equal(nearest("staate"), "state");
    assert_string_equal(nearest("stote"), "state");
}

static void swapped_neighbours_are_one_mistake(void **state) {
    (void)state;
    assert_string_equal(nearest("dql"), "dlq");
}

static void case_and_dashes_do_not_count(void **state) {
    (void)state;
    assert_string_equal(nearest("Min-Attempts"), "min_attempts");
}

static void what_is_near_nothing_gets_no_suggestion(void **state) {
    (void)state;
    assert_null(nearest("telephone"));
    assert_null(nearest(""));
    char longest[SUGGEST_WORD_MAX + 2];
    memset(longest, 'q', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(nearest(longest));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_too_few_too_many_or_wrong_is_forgiven),
        cmocka_unit_test(swapped_neighbours_are_one_mistake),
        cmocka_unit_test(case_and_dashes_do_not_count),
        cmocka_unit_test(what_is_near_nothing_gets_no_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
