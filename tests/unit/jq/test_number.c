#include "jq/jq_number.h"

#include "test.h"

static void numbers_that_survive_a_double_are_plain(void **state) {
    (void)state;
    static const char *const plain[] = {
        "0",    "-0",  "0.1", "1.50", "9007199254740992", "-9007199254740991", "1e300", "1E+2",
        "5e-5", "100", "0.0", "0e9",  "123456789012345",  "3.0000000000000004"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_true(jq_number_is_plain(bytes_of(plain[i])));
}

static void numbers_that_do_not_are_not_plain(void **state) {
    (void)state;
    static const char *const inexact[] = {"9007199254740993",
                                          "-9007199254740993",
                                          "9007199254740993.0",
                                          "12345678901234567890",
                                          "18446744073709551616",
                                          "1e400",
                                          "-1e400",
                                          "1e-400",
                                          "0.10000000000000001",
                                          "0.1000000000000000055511151231257827"};
    for (size_t i = 0; i < sizeof inexact / sizeof inexact[0]; i++)
        assert_false(jq_number_is_plain(bytes_of(inexact[i])));
}

static void every_spelling_of_a_value_becomes_the_same(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1.50e1", "15"},
        {"9007199254740993.000", "9007199254740993"},
        {"9.007199254740993e15", "9007199254740993"},
        {"90071992547409930e-1", "9007199254740993"},
        {"-0012.5", "-12.5"},
        {"0.00012", "1.2e-4"},
        {"0.12", "1.2e-1"},
        {"1e400", "1e400"},
        {"10e399", "1e400"},
        {"1200", "1200"},
        {"0.000", "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char memory[64];
        struct buf out;
        buf_init_fixed(&out, memory, sizeof memory);
        jq_number_put(bytes_of(cases[i][0]), &out);
        assert_bytes(buf_view(&out), cases[i][1]);
    }
}

static void a_number_ends_where_its_spelling_ends(void **state) {
    (void)state;
    assert_int_equal(jq_number_scan(BYTES("12.5e-3]")), 7);
    assert_int_equal(jq_number_scan(BYTES("12e")), 2);
    assert_int_equal(jq_number_scan(BYTES(".5+1")), 2);
    assert_int_equal(jq_number_scan(BYTES(".foo")), 0);
    assert_int_equal(jq_number_scan(BYTES("-")), 0);
    assert_int_equal(jq_number_scan(BYTES("")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_survive_a_double_are_plain),
        cmocka_unit_test(numbers_that_do_not_are_not_plain),
        cmocka_unit_test(every_spelling_of_a_value_becomes_the_same),
        cmocka_unit_test(a_number_ends_where_its_spelling_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
