/* The offset tracker of a partition, case by case and against a model that keeps everything. */
#include "test.h"

#include "base/rng.h"
#include "broker/kafka/consume/offset_tracker.h"

/* What a record at that offset holds, in the first log of its name and in one made anew. */
static uint64_t print_of(int64_t offset, int log) {
    return (uint64_t)offset * 31 + (uint64_t)log;
}

static void read_range(struct offset_tracker *tracker, int64_t from, int64_t to, bool given) {
    for (int64_t offset = from; offset < to; offset++)
        assert_int_equal(offset_tracker_read(tracker, offset, print_of(offset, 0)), given);
}

static void settle(struct offset_tracker *tracker, int64_t offset) {
    offset_tracker_settle(tracker, offset, print_of(offset, 0));
}

static void only_what_lies_below_the_lowest_unsettled_one_is_committed(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    assert_int_equal(offset_tracker_commit(&tracker), -1);
    read_range(&tracker, 100, 105, true);
    assert_int_equal(offset_tracker_commit(&tracker), 100);
    settle(&tracker, 102);
    settle(&tracker, 101);
    assert_int_equal(offset_tracker_commit(&tracker), 100);
    settle(&tracker, 100);
    assert_int_equal(offset_tracker_commit(&tracker), 103);
    settle(&tracker, 104);
    settle(&tracker, 103);
    assert_int_equal(offset_tracker_commit(&tracker), 105);
    settle(&tracker, 104);
    settle(&tracker, 9999);
    assert_int_equal(offset_tracker_commit(&tracker), 105);
    offset_tracker_free(&tracker);
}

static void offsets_that_the_log_lacks_are_passed_over(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 10, 11, true);
    read_range(&tracker, 20, 21, true);
    settle(&tracker, 10);
    assert_int_equal(offset_tracker_commit(&tracker), 20);
    settle(&tracker, 20);
    assert_int_equal(offset_tracker_commit(&tracker), 21);
    offset_tracker_free(&tracker);
}

static void it_is_full_while_its_head_is_held_and_only_then(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 0, OFFSET_TRACKER_MAX - 1, true);
    assert_false(offset_tracker_full(&tracker));
    read_range(&tracker, OFFSET_TRACKER_MAX - 1, OFFSET_TRACKER_MAX, true);
    assert_true(offset_tracker_full(&tracker));
    for (int64_t offset = 1; offset < OFFSET_TRACKER_MAX; offset++)
        settle(&tracker, offset);
    assert_true(offset_tracker_full(&tracker));
    assert_int_equal(offset_tracker_commit(&tracker), 0);
    settle(&tracker, 0);
    assert_false(offset_tracker_full(&tracker));
    assert_int_equal(offset_tracker_commit(&tracker), OFFSET_TRACKER_MAX);
    offset_tracker_free(&tracker);
}

static void what_is_held_or_settled_is_not_given_again_when_the_partition_comes_back(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 0, 6, true);
    settle(&tracker, 2);
    offset_tracker_drop(&tracker, 4, print_of(4, 0));
    offset_tracker_rewind(&tracker);
    assert_int_equal(offset_tracker_commit(&tracker), -1);
    settle(&tracker, 1);
    read_range(&tracker, 0, 4, false);
    assert_int_equal(offset_tracker_commit(&tracker), 0);
    settle(&tracker, 0);
    assert_int_equal(offset_tracker_commit(&tracker), 3);
    read_range(&tracker, 4, 5, true);
    read_range(&tracker, 5, 6, false);
    read_range(&tracker, 6, 7, true);
    for (int64_t offset = 3; offset < 7; offset++)
        settle(&tracker, offset);
    assert_int_equal(offset_tracker_commit(&tracker), 7);
    offset_tracker_free(&tracker);
}

static void what_another_member_did_meanwhile_is_passed_over(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 0, 4, true);
    offset_tracker_rewind(&tracker);
    read_range(&tracker, 3, 4, false);
    read_range(&tracker, 4, 5, true);
    settle(&tracker, 0);
    assert_int_equal(offset_tracker_commit(&tracker), 3);
    settle(&tracker, 3);
    assert_int_equal(offset_tracker_commit(&tracker), 4);
    offset_tracker_free(&tracker);
}

static void what_was_settled_but_not_committed_is_given_again(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 0, 3, true);
    settle(&tracker, 0);
    offset_tracker_rewind(&tracker);
    read_range(&tracker, 0, 1, true);
    read_range(&tracker, 1, 3, false);
    assert_int_equal(offset_tracker_commit(&tracker), 0);
    offset_tracker_free(&tracker);
}

static void another_log_of_the_same_name_is_another_log(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 0, 3, true);
    settle(&tracker, 1);
    offset_tracker_rewind(&tracker);
    for (int64_t offset = 0; offset < 3; offset++)
        assert_true(offset_tracker_read(&tracker, offset, print_of(offset, 1)));
    for (int64_t offset = 0; offset < 3; offset++)
        settle(&tracker, offset); /* of the old log */
    assert_int_equal(offset_tracker_commit(&tracker), 0);
    for (int64_t offset = 0; offset < 3; offset++)
        offset_tracker_settle(&tracker, offset, print_of(offset, 1));
    assert_int_equal(offset_tracker_commit(&tracker), 3);
    offset_tracker_free(&tracker);
}

static void a_log_that_was_cut_back_is_read_anew(void **state) {
    (void)state;
    struct offset_tracker tracker;
    offset_tracker_init(&tracker);
    read_range(&tracker, 5, 8, true);
    settle(&tracker, 6);
    read_range(&tracker, 5, 8, false);
    assert_int_equal(offset_tracker_commit(&tracker), 5);
    settle(&tracker, 5);
    assert_int_equal(offset_tracker_commit(&tracker), 7);
    offset_tracker_free(&tracker);
}

/* ---- against a model ---- */

enum { LOG_LENGTH = 400, STEPS = 4000, SEEDS = 60 };

enum fate { UNREAD, HELD, SETTLED };

struct model {
    enum fate fates[LOG_LENGTH]; /* UNREAD: in nobody's hands */
    bool exists[LOG_LENGTH];
    int64_t from, next; /* of the present assignment; next -1: nothing was read */
    int64_t committed;
};

static int64_t model_commit(const struct model *model) {
    if (model->next < 0)
        return -1;
    for (int64_t at = model->from; at < model->next; at++)
        if (model->exists[at] && model->fates[at] != SETTLED)
            return at;
    return model->next;
}

static void read_one(struct model *model, struct offset_tracker *tracker) {
    int64_t at = model->next < 0 ? model->committed : model->next;
    while (at < LOG_LENGTH && !model->exists[at])
        at++;
    if (at == LOG_LENGTH)
        return;
    if (model->next < 0)
        model->from = at;
    bool given = offset_tracker_read(tracker, at, print_of(at, 0));
    if (model->fates[at] == HELD)
        assert_false(given);
    if (model->fates[at] == UNREAD)
        assert_true(given);
    if (given)
        model->fates[at] = HELD;
    model->next = at + 1;
}

static void change_one(struct model *model, struct offset_tracker *tracker, struct rng *rng) {
    int64_t at = (int64_t)rng_below(rng, LOG_LENGTH);
    if (model->fates[at] != HELD)
        return;
    model->fates[at] = SETTLED;
    settle(tracker, at);
}

/* What nobody received yet is dropped; what was settled is committed, or that fails. */
static void lose_partition(struct model *model, struct offset_tracker *tracker, struct rng *rng) {
    if (model->next >= 0 && rng_below(rng, 4) > 0)
        model->committed = model_commit(model);
    for (int64_t at = 0; at < LOG_LENGTH; at++)
        if (model->fates[at] == HELD && rng_below(rng, 3) == 0) {
            model->fates[at] = UNREAD;
            offset_tracker_drop(tracker, at, print_of(at, 0));
        }
    offset_tracker_rewind(tracker);
    model->next = -1;
}

static void run_model(uint64_t seed) {
    struct rng rng;
    rng_seed(&rng, seed);
    struct offset_tracker tracker;
    struct model model = {.next = -1};
    offset_tracker_init(&tracker);
    for (size_t at = 0; at < LOG_LENGTH; at++)
        model.exists[at] = rng_below(&rng, 10) > 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t die = rng_below(&rng, 200);
        if (die == 0)
            lose_partition(&model, &tracker, &rng);
        else if (die < 60)
            read_one(&model, &tracker);
        else
            change_one(&model, &tracker, &rng);
        assert_int_equal(offset_tracker_commit(&tracker), model_commit(&model));
    }
    offset_tracker_free(&tracker);
}

static void it_agrees_with_a_model_that_keeps_everything(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_model(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_lies_below_the_lowest_unsettled_one_is_committed),
        cmocka_unit_test(offsets_that_the_log_lacks_are_passed_over),
        cmocka_unit_test(it_is_full_while_its_head_is_held_and_only_then),
        cmocka_unit_test(what_is_held_or_settled_is_not_given_again_when_the_partition_comes_back),
        cmocka_unit_test(what_another_member_did_meanwhile_is_passed_over),
        cmocka_unit_test(what_was_settled_but_not_committed_is_given_again),
        cmocka_unit_test(another_log_of_the_same_name_is_another_log),
        cmocka_unit_test(a_log_that_was_cut_back_is_read_anew),
        cmocka_unit_test(it_agrees_with_a_model_that_keeps_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
