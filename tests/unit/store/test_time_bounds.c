/* When letters died that have a trait: never too short a time, and none where nobody has it. */
#include "store/embedded/sqlite/list/time_bounds.h"

#include "test.h"

static struct database database;
static struct time_bounds *spread;

static int start(void **state) {
    (void)state;
    struct err err;
    struct database_options options = {.path = ":memory:"};
    assert_int_equal(database_open(&options, &database, &err), STATUS_OK);
    spread = time_bounds_new();
    assert_int_equal(time_bounds_read(spread, &database, &err), STATUS_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    time_bounds_free(spread);
    database_close(&database);
    return 0;
}

static struct envelope letter(const char *category, const char *reason, uint32_t attempts) {
    return (struct envelope){.letter_id = BYTES("l"),
                             .dlq = BYTES("d"),
                             .cause = CAUSE_TERMINAL,
                             .category = bytes_of(category),
                             .reason = bytes_of(reason),
                             .attempts = attempts};
}

static void add(const char *category, const char *reason, uint32_t attempts, int64_t dead_ms) {
    struct envelope envelope = letter(category, reason, attempts);
    struct time_bounds_letter letter = {filter_signature_of(&envelope, 1), dead_ms};
    time_bounds_add(spread, &letter, 1);
}

static bool narrow(struct letters_query *query, const struct bytes *reasons, size_t count) {
    struct filter_signature_wanted wanted = filter_signature_wanted(query, 1);
    return time_bounds_narrow(spread, &wanted, reasons, count, query);
}

static void a_query_is_narrowed_to_when_they_died(void **state) {
    (void)state;
    add("common", "a", 1, 1000);
    add("rare", "b", 3, 5000);
    add("rare", "c", 40, 6000);
    add("common", "a", 1, 9000);
    struct letters_query rare = {.category = BYTES("rare")};
    assert_true(narrow(&rare, NULL, 0));
    assert_int_equal(rare.since.ms, 5000);
    assert_int_equal(rare.until.ms, 6001);
    struct letters_query narrower = {.category = BYTES("rare"), .since = {5500}, .until = {5600}};
    assert_true(narrow(&narrower, NULL, 0));
    assert_int_equal(narrower.since.ms, 5500);
    assert_int_equal(narrower.until.ms, 5600);
    struct letters_query often = {.min_attempts = 2};
    assert_true(narrow(&often, NULL, 0));
    assert_int_equal(often.since.ms, 5000);
    assert_int_equal(often.until.ms, 6001);
    struct letters_query more = {.min_attempts = 1000}; /* as 40 is: all beyond 30 are one */
    assert_true(narrow(&more, NULL, 0));
    assert_int_equal(more.since.ms, 6000);
}

static void one_of_several_reasons_will_do(void **state) {
    (void)state;
    add("x", "a", 1, 1000);
    add("x", "b", 1, 2000);
    add("x", "c", 1, 3000);
    const struct bytes reasons[] = {BYTES("a"), BYTES("b")};
    struct letters_query query = {.reason_prefix = BYTES("?")};
    assert_true(narrow(&query, reasons, 2));
    assert_int_equal(query.since.ms, 1000);
    assert_int_equal(query.until.ms, 2001);
}

static void what_nobody_has_is_nowhere(void **state) {
    (void)state;
    add("common", "a", 1, 1000);
    add("other", "a", 2, 2000);
    struct letters_query none = {.category = BYTES("nobody's")};
    assert_false(narrow(&none, NULL, 0));
    struct letters_query never_both = {.category = BYTES("common"), .min_attempts = 2};
    assert_false(narrow(&never_both, NULL, 0));
    struct letters_query all = {.letters = true};
    assert_true(narrow(&all, NULL, 0));
    assert_int_equal(all.since.ms, 0);
    assert_int_equal(all.until.ms, 0);
}

static void what_was_in_the_file_before_is_known(void **state) {
    (void)state;
    struct err err;
    assert_int_equal(
        database_run(database.db,
                     "INSERT INTO messages (seq, queue, id, letter_id, dlq, state, category,"
                     " attempts, created_ms, dead_ms, due_ms, escalated_ms, envelope)"
                     " VALUES (1, 1, 'a', 'l', 'd', 'resolved', 'old', 1, 1, 700, 0, 0, '');"
                     "UPDATE messages SET traits = letter_traits(queue, cause, category, reason,"
                     " error_type, fingerprint, key, attempts, escalated_ms)",
                     &err),
        STATUS_OK);
    assert_int_equal(time_bounds_read(spread, &database, &err), STATUS_OK);
    add("old", "a", 1, 900);
    struct letters_query query = {.category = BYTES("old")};
    assert_true(narrow(&query, NULL, 0));
    assert_int_equal(query.since.ms, 700);
    assert_int_equal(query.until.ms, 901);
}

static void before_the_file_is_read_nothing_is_narrowed(void **state) {
    (void)state;
    struct err err;
    struct time_bounds *known = spread;
    spread = time_bounds_new();
    add("common", "a", 1, 1000);
    struct letters_query query = {.category = BYTES("old")};
    assert_true(narrow(&query, NULL, 0));
    assert_int_equal(query.since.ms, 0);
    assert_int_equal(query.until.ms, 0);
    time_bounds_stop(spread);
    assert_int_equal(time_bounds_read(spread, &database, &err), STATUS_OK);
    assert_true(narrow(&query, NULL, 0));
    time_bounds_free(spread);
    spread = known;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_query_is_narrowed_to_when_they_died),
        TEST(one_of_several_reasons_will_do),
        TEST(what_nobody_has_is_nowhere),
        TEST(what_was_in_the_file_before_is_known),
        TEST(before_the_file_is_read_nothing_is_narrowed),
    };
    return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
