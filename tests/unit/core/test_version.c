/* Versions of consumers, and what is asked of them. */
#include "core/version.h"

#include "test.h"

static void versions_are_compared_number_by_number(void **state) {
    (void)state;
    static const struct {
        const char *rule, *version;
        bool matches;
    } rows[] = {
        {">= 1.4", "1.4", true},
        {">= 1.4", "1.4.0", true},
        {">= 1.4", "1.3.9", false},
        {">= 1.4", "1.10", true},
        {">= 1.4", "2", true},
        {">= 1.4", "1", false},
        {">=1.4", "v1.4.2", true},
        {">= 1.4", "1.4.2-rc1", true},
        {">= 1.4", "1.4+build7", true},
        {">= 1.4", "latest", false},
        {">= 1.4", "", false},
        {"> 1.4", "1.4", false},
        {"> 1.4", "1.4.0.0", false},
        {"> 1.4", "1.4.0.1", true},
        {"> 1.4", "1.5", true},
        {"= 1.4.2", "1.4.2", true},
        {"= 1.4.2", "V1.4.2", true},
        {"= 1.4.2", "1.4.20", false},
        {"= 1.4.2", "1.4", false},
        {"=1", "1.0.0", true},
        {">= 0", "0.0.1", true},
        {"= 20260131", "20260131", true},
        {">= 1.4", "99999999999999999999999", false}, /* no number that can be held */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct version_rule rule;
        assert_true(version_rule_parse(bytes_of(rows[i].rule), &rule));
        if (version_matches(&rule, bytes_of(rows[i].version)) != rows[i].matches)
            fail_msg("%s: %s", rows[i].rule, rows[i].version);
    }
}

static void what_is_no_rule_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",     "1.4",  ">=",      ">= ",     "< 1.4", "== 1.4",
                                        "= v1", ">= x", ">= 1.4x", ">= 1..4", "~ 1.4", ">= 1.4 2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct version_rule rule;
        if (version_rule_parse(bytes_of(texts[i]), &rule))
            fail_msg("%s", texts[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_compared_number_by_number),
        cmocka_unit_test(what_is_no_rule_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
