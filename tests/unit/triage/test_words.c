/* The filter's words, one by one. */
#include "triage/query/query.h"

#include "test.h"

static const struct wall now = {1763182181123}; /* 2025-11-15T04:49:41.123Z */

static struct query query;
static struct err err;

static int start_letters(void **state) {
    (void)state;
    query_init(&query, QUERY_LETTERS);
    err = (struct err){0};
    return 0;
}

static enum status set(const char *name, const char *value) {
    return query_set(&query, bytes_of(name), bytes_of(value), now, NULL, &err);
}

#define assert_refused(name, value, part)                                                          \
    do {                                                                                           \
        assert_int_equal(set(name, value), STATUS_INVALID);                                        \
        if (!strstr(err.text, part))                                                               \
            fail_msg("%s=%s said: %s", name, value, err.text);                                     \
    } while (0)

static void texts_stand_as_they_are(void **state) {
    (void)state;
    assert_int_equal(set("category", "timeout"), STATUS_OK);
    assert_int_equal(set("reason", "max_attempts:"), STATUS_OK);
    assert_int_equal(set("error_type", "KeyError"), STATUS_OK);
    assert_int_equal(set("key", "k1"), STATUS_OK);
    assert_int_equal(set("q", "no such order"), STATUS_OK);
    assert_int_equal(set("queue", "orders"), STATUS_OK);
    assert_int_equal(set("dlq", "orders.dlq"), STATUS_OK);
    assert_int_equal(set("where", ".attempts > 2"), STATUS_OK);
    assert_int_equal(set("cursor", "c1"), STATUS_OK);
    assert_bytes(query.filter.category, "timeout");
    assert_bytes(query.filter.reason_prefix, "max_attempts:");
    assert_bytes(query.filter.error_type, "KeyError");
    assert_bytes(query.filter.key, "k1");
    assert_bytes(query.filter.text, "no such order");
    assert_bytes(query.filter.queue, "orders");
    assert_bytes(query.filter.dlq, "orders.dlq");
    assert_bytes(query.where, ".attempts > 2");
    assert_bytes(query.filter.cursor, "c1");
}

static void state_takes_one_or_several(void **state) {
    (void)state;
    assert_int_equal(set("state", "resolved"), STATUS_OK);
    assert_int_equal(query.filter.states, 1u << STATE_RESOLVED);
    query.filter.states = 0;
    assert_int_equal(set("state", "queued, pending_retry"), STATUS_OK);
    assert_int_equal(query.filter.states, 1u << STATE_QUEUED | 1u << STATE_PENDING_RETRY);
    assert_refused("state", "queued,resolvd", "did you mean \"resolved\"");
    assert_refused("state", "asleep", "pending_review");
}

static void cause_is_one_of_its_words(void **state) {
    (void)state;
    assert_int_equal(set("cause", "exhausted"), STATUS_OK);
    assert_true(query.filter.has_cause);
    assert_int_equal(query.filter.cause, CAUSE_EXHAUSTED);
    assert_refused("cause", "exausted", "did you mean \"exhausted\"");
}

static void fingerprint_is_sixteen_hex_digits(void **state) {
    (void)state;
    assert_int_equal(set("fingerprint", "9f2c000000000001"), STATUS_OK);
    assert_true(query.filter.has_fingerprint);
    assert_true(query.filter.fingerprint == 0x9f2c000000000001u);
    assert_refused("fingerprint", "xyz", "16 hex digits");
}

static void times_are_dates_or_how_long_ago(void **state) {
    (void)state;
    assert_int_equal(set("since", "6h"), STATUS_OK);
    assert_int_equal(query.filter.since.ms, now.ms - 6 * 3600 * 1000);
    assert_int_equal(set("until", "2025-11-15T04:49:41.123Z"), STATUS_OK);
    assert_int_equal(query.filter.until.ms, now.ms);
    assert_refused("since", "yesterday", "how long ago");
    assert_int_equal(set("since", "99999d"), STATUS_OK);
    assert_true(query.filter.since.ms > 0);
}

static void numbers_have_their_limits(void **state) {
    (void)state;
    assert_int_equal(query.filter.limit, QUERY_LIMIT_DEFAULT);
    assert_int_equal(set("limit", "1000"), STATUS_OK);
    assert_int_equal(query.filter.limit, 1000);
    assert_refused("limit", "1001", "1000");
    assert_refused("limit", "0", "number of rows");
    assert_refused("limit", "-1", "number of rows");
    assert_refused("limit", "ten", "number of rows");
    assert_int_equal(set("min_attempts", "3"), STATUS_OK);
    assert_int_equal(query.filter.min_attempts, 3);
    assert_refused("min_attempts", "4294967296", "attempts");
}

static void escalated_is_yes_or_no(void **state) {
    (void)state;
    assert_int_equal(set("escalated", "true"), STATUS_OK);
    assert_int_equal(query.filter.escalated, LETTERS_YES);
    assert_int_equal(set("escalated", "false"), STATUS_OK);
    assert_int_equal(query.filter.escalated, LETTERS_NO);
    assert_refused("escalated", "maybe", "true or false");
}

static void an_unknown_word_gets_a_suggestion(void **state) {
    (void)state;
    assert_refused("categry", "x", "did you mean \"category\"");
    assert_refused("min-attempt", "3", "did you mean \"min_attempts\"");
    assert_refused("colour", "red", "fingerprint");
}

static void an_empty_value_does_not_widen_the_filter(void **state) {
    (void)state;
    assert_refused("reason", "", "reason");
    assert_refused("state", "", "state");
    assert_int_equal(set("cursor", ""), STATUS_OK);
}

static void letters_are_unresolved_unless_a_state_is_given(void **state) {
    (void)state;
    query_finish(&query);
    assert_true(query.filter.letters);
    assert_int_equal(query.filter.states, 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING);
    query_init(&query, QUERY_LETTERS);
    assert_int_equal(set("state", "discarded"), STATUS_OK);
    query_finish(&query);
    assert_int_equal(query.filter.states, 1u << STATE_DISCARDED);
    query_init(&query, QUERY_MESSAGES);
    query_finish(&query);
    assert_false(query.filter.letters);
    assert_int_equal(query.filter.states, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(texts_stand_as_they_are, start_letters),
        cmocka_unit_test_setup(state_takes_one_or_several, start_letters),
        cmocka_unit_test_setup(cause_is_one_of_its_words, start_letters),
        cmocka_unit_test_setup(fingerprint_is_sixteen_hex_digits, start_letters),
        cmocka_unit_test_setup(times_are_dates_or_how_long_ago, start_letters),
        cmocka_unit_test_setup(numbers_have_their_limits, start_letters),
        cmocka_unit_test_setup(escalated_is_yes_or_no, start_letters),
        cmocka_unit_test_setup(an_unknown_word_gets_a_suggestion, start_letters),
        cmocka_unit_test_setup(an_empty_value_does_not_widen_the_filter, start_letters),
        cmocka_unit_test_setup(letters_are_unresolved_unless_a_state_is_given, start_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
