#include "test.h"

#include "core/words.h"

static void every_word_reads_back_as_itself(void **state) {
    (void)state;
    for (int i = 0; i < VERDICT_COUNT; i++) {
        enum verdict back;
        assert_true(verdict_parse(bytes_of(verdict_text((enum verdict)i)), &back) &&
                    (int)back == i);
    }
    for (int i = 0; i < CAUSE_COUNT; i++) {
        enum cause back;
        assert_true(cause_parse(bytes_of(cause_text((enum cause)i)), &back) && (int)back == i);
    }
    for (int i = 0; i < KIND_COUNT; i++) {
        enum kind back;
        assert_true(kind_parse(bytes_of(kind_text((enum kind)i)), &back) && (int)back == i);
    }
    for (int i = 0; i < STATE_COUNT; i++) {
        enum state back;
        assert_true(state_parse(bytes_of(state_text((enum state)i)), &back) && (int)back == i);
    }
    for (int i = 0; i < RESOLUTION_COUNT; i++) {
        enum resolution back;
        assert_true(resolution_parse(bytes_of(resolution_text((enum resolution)i)), &back) &&
                    (int)back == i);
    }
}

static void words_are_spelt_as_the_contract_says(void **state) {
    (void)state;
    assert_string_equal(verdict_text(VERDICT_FALLBACK), "fallback");
    assert_string_equal(cause_text(CAUSE_UNCLASSIFIED), "unclassified");
    assert_string_equal(kind_text(KIND_EXPIRED), "expired");
    assert_string_equal(state_text(STATE_PENDING_REVIEW), "pending_review");
    assert_string_equal(resolution_text(RESOLUTION_BY_HAND), "by_hand");
}

static void other_words_are_refused_and_leave_the_value_alone(void **state) {
    (void)state;
    enum verdict verdict = VERDICT_HALT;
    assert_false(verdict_parse(BYTES("dead"), &verdict));
    assert_false(verdict_parse(BYTES("Retry"), &verdict));
    assert_false(verdict_parse(BYTES("retry "), &verdict));
    assert_false(verdict_parse(BYTES_NONE, &verdict));
    assert_int_equal(verdict, VERDICT_HALT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_reads_back_as_itself),
        cmocka_unit_test(words_are_spelt_as_the_contract_says),
        cmocka_unit_test(other_words_are_refused_and_leave_the_value_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
