/* Arrivals on the store kept in memory, with a clock set by hand. */
#include "triage/groups/arrivals.h"

#include <stdio.h>

#include "base/json/json.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/groups/arrivals_state.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE, TEXT_MAX = 1 << 20 };

static struct store *store;
static struct triage triage;
static struct instant now;
static unsigned letters;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {.now = read_clock};

static void assert_durable(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static void dies(const char *category, uint64_t fingerprint) {
    char id[32];
    snprintf(id, sizeof id, "m-%u", letters++);
    struct envelope envelope = {.id = bytes_of(id),
                                .letter_id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .state = STATE_PENDING_REVIEW,
                                .category = bytes_of(category),
                                .reason = BYTES("because"),
                                .content_type = BYTES("application/json"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1,
                                .failed = true,
                                .fingerprint = fingerprint,
                                .created_at = now.wall,
                                .dead_at = now.wall};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, BYTES("orders")),
                          .envelope = &envelope,
                          .body = BYTES("{}")};
    struct store_commit commit = {.ops = &op, .count = 1, .done = assert_durable};
    store->vtable->submit(store, &commit);
}

static void pass(int64_t ms) {
    now.wall.ms += ms;
    now.mono.ms += ms;
}

static struct arrivals *open_arrivals(void) {
    struct arrivals *arrivals;
    struct err err;
    assert_int_equal(arrivals_new(&triage, &arrivals, &err), STATUS_OK);
    return arrivals;
}

static int start(void **state) {
    (void)state;
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    now = (struct instant){{(int64_t)500000 * HOUR}, {1000}};
    letters = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    store->vtable->close(store);
    triage_free(&triage);
    return 0;
}

/* How many there were in the window, and in its newest slot. */
static void expect(struct arrivals *arrivals, const char *window, const char *category, int64_t sum,
                   int64_t newest) {
    struct buf out;
    struct err err;
    struct json json, categories, counts;
    int64_t total = 0, last = 0;
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(arrivals_json(arrivals, bytes_of(window), &out, &err), STATUS_OK);
    assert_int_equal(json_parse(buf_view(&out), &json, NULL), STATUS_OK);
    assert_true(json_get(json, "categories", &categories));
    if (json_get(categories, category, &counts))
        for (struct json_walk walk = json_walk(counts); json_step(&walk); total += last)
            assert_true(json_i64(walk.value, &last));
    buf_free(&out);
    assert_int_equal(total, sum);
    assert_int_equal(last, newest);
}

static void letters_are_counted_in_the_slot_in_which_they_came(void **state) {
    (void)state;
    struct arrivals *arrivals = open_arrivals();
    dies("timeout", 1);
    dies("timeout", 1);
    expect(arrivals, "1h", "timeout", 2, 2);
    pass(MINUTE);
    dies("bug", 2);
    expect(arrivals, "1h", "timeout", 2, 0);
    expect(arrivals, "1h", "bug", 1, 1);
    expect(arrivals, "24h", "timeout", 2, 2);
    pass(HOUR);
    expect(arrivals, "1h", "timeout", 0, 0);
    expect(arrivals, "24h", "timeout", 2, 0);
    pass(24 * (int64_t)HOUR);
    expect(arrivals, "24h", "bug", 0, 0);
    expect(arrivals, "7d", "bug", 1, 0);
    pass(7 * 24 * (int64_t)HOUR);
    expect(arrivals, "7d", "bug", 0, 0);
    arrivals_free(arrivals);
}

static void what_was_there_before_the_counting_is_no_arrival(void **state) {
    (void)state;
    dies("timeout", 1);
    struct arrivals *arrivals = open_arrivals();
    expect(arrivals, "7d", "timeout", 0, 0);
    dies("timeout", 1);
    expect(arrivals, "7d", "timeout", 1, 1);
    arrivals_free(arrivals);
}

static void the_next_life_goes_on_and_misses_nothing(void **state) {
    (void)state;
    uint64_t hours[ARRIVALS_GROUP_HOURS] = {0};
    struct arrivals *arrivals = open_arrivals();
    dies("timeout", 1);
    arrivals_free(arrivals); /* before the first save of a reading */
    arrivals = open_arrivals();
    expect(arrivals, "1h", "timeout", 1, 1);
    pass(ARRIVALS_SAVE_MS);
    arrivals_read(arrivals);
    dies("timeout", 1); /* after the last save */
    arrivals_free(arrivals);
    pass(HOUR);
    arrivals = open_arrivals();
    expect(arrivals, "24h", "timeout", 2, 1);
    arrivals_of_group(arrivals, BYTES("orders.dlq"), 1, hours);
    assert_int_equal(hours[ARRIVALS_GROUP_HOURS - 2], 1);
    assert_int_equal(hours[ARRIVALS_GROUP_HOURS - 1], 1);
    arrivals_free(arrivals);
}

static void groups_are_told_apart_and_bounded(void **state) {
    (void)state;
    uint64_t first[ARRIVALS_GROUP_HOURS] = {0}, last[ARRIVALS_GROUP_HOURS] = {0};
    struct arrivals *arrivals = open_arrivals();
    for (uint64_t i = 1; i <= ARRIVALS_GROUPS_MAX + 1; i++) {
        dies("bug", i);
        arrivals_read(arrivals);
    }
    arrivals_of_group(arrivals, BYTES("orders.dlq"), 1, first);
    arrivals_of_group(arrivals, BYTES("orders.dlq"), ARRIVALS_GROUPS_MAX + 1, last);
    assert_int_equal(first[ARRIVALS_GROUP_HOURS - 1], 0);
    assert_int_equal(last[ARRIVALS_GROUP_HOURS - 1], 1);
    arrivals_free(arrivals);
}

static void categories_beyond_the_limit_are_others(void **state) {
    (void)state;
    struct arrivals *arrivals = open_arrivals();
    for (int i = 0; i < ARRIVALS_CATEGORIES_MAX + 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "c-%02d", i);
        dies(name, 1);
        arrivals_read(arrivals);
    }
    expect(arrivals, "1h", "c-00", 1, 1);
    expect(arrivals, "1h", "other", 5, 5);
    arrivals_free(arrivals);
}

static void a_clock_that_is_set_back_shows_what_comes(void **state) {
    (void)state;
    struct arrivals *arrivals = open_arrivals();
    dies("bug", 1);
    arrivals_read(arrivals);
    now.wall.ms -= 30 * MINUTE;
    dies("bug", 1);
    expect(arrivals, "1h", "bug", 1, 1);
    arrivals_free(arrivals);
}

static void a_text_that_is_not_ours_is_counted_anew(void **state) {
    (void)state;
    struct store_op op = {
        .kind = STORE_KEEP,
        .keep = {.space = SPACE_ARRIVALS,
                 .name = BYTES("arrivals"),
                 .value = BYTES("{\"begun\":1,\"categories\":[{\"name\":\"x\"}]}")}};
    struct store_commit commit = {.ops = &op, .count = 1, .done = assert_durable};
    store->vtable->submit(store, &commit);
    struct arrivals *arrivals = open_arrivals();
    dies("bug", 1);
    expect(arrivals, "1h", "bug", 1, 1);
    arrivals_free(arrivals);
}

static void there_are_three_windows(void **state) {
    (void)state;
    struct arrivals *arrivals = open_arrivals();
    struct buf out;
    struct err err;
    buf_init_heap(&out, TEXT_MAX);
    assert_int_equal(arrivals_json(arrivals, BYTES("2h"), &out, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "1h, 24h, 7d"));
    buf_free(&out);
    arrivals_free(arrivals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(letters_are_counted_in_the_slot_in_which_they_came, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_was_there_before_the_counting_is_no_arrival, start,
                                        end),
        cmocka_unit_test_setup_teardown(the_next_life_goes_on_and_misses_nothing, start, end),
        cmocka_unit_test_setup_teardown(groups_are_told_apart_and_bounded, start, end),
        cmocka_unit_test_setup_teardown(categories_beyond_the_limit_are_others, start, end),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_back_shows_what_comes, start, end),
        cmocka_unit_test_setup_teardown(a_text_that_is_not_ours_is_counted_anew, start, end),
        cmocka_unit_test_setup_teardown(there_are_three_windows, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
