/* The ledger of a partition, by hand and against a model that keeps everything. */
#include "test.h"

#include "base/rng.h"
#include "broker/kafka/kafka_ledger.h"

/* What a record at that offset holds, in the first log of its name and in one made anew. */
static uint64_t print_of(int64_t offset, int log) {
    return (uint64_t)offset * 31 + (uint64_t)log;
}

static void read_range(struct kafka_ledger *ledger, int64_t from, int64_t to, bool given) {
    for (int64_t offset = from; offset < to; offset++)
        assert_int_equal(kafka_ledger_read(ledger, offset, print_of(offset, 0)), given);
}

static void settle(struct kafka_ledger *ledger, int64_t offset) {
    kafka_ledger_settle(ledger, offset, print_of(offset, 0));
}

static void only_what_lies_below_the_lowest_unsettled_one_is_committed(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    assert_int_equal(kafka_ledger_commit(&ledger), -1);
    read_range(&ledger, 100, 105, true);
    assert_int_equal(kafka_ledger_commit(&ledger), 100);
    settle(&ledger, 102);
    settle(&ledger, 101);
    assert_int_equal(kafka_ledger_commit(&ledger), 100);
    settle(&ledger, 100);
    assert_int_equal(kafka_ledger_commit(&ledger), 103);
    settle(&ledger, 104);
    settle(&ledger, 103);
    assert_int_equal(kafka_ledger_commit(&ledger), 105);
    settle(&ledger, 104);
    settle(&ledger, 9999);
    assert_int_equal(kafka_ledger_commit(&ledger), 105);
    kafka_ledger_free(&ledger);
}

static void offsets_that_the_log_lacks_are_passed_over(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 10, 11, true);
    read_range(&ledger, 20, 21, true);
    settle(&ledger, 10);
    assert_int_equal(kafka_ledger_commit(&ledger), 20);
    settle(&ledger, 20);
    assert_int_equal(kafka_ledger_commit(&ledger), 21);
    kafka_ledger_free(&ledger);
}

static void it_is_full_while_its_head_is_held_and_only_then(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 0, KAFKA_LEDGER_MAX - 1, true);
    assert_false(kafka_ledger_full(&ledger));
    read_range(&ledger, KAFKA_LEDGER_MAX - 1, KAFKA_LEDGER_MAX, true);
    assert_true(kafka_ledger_full(&ledger));
    for (int64_t offset = 1; offset < KAFKA_LEDGER_MAX; offset++)
        settle(&ledger, offset);
    assert_true(kafka_ledger_full(&ledger));
    assert_int_equal(kafka_ledger_commit(&ledger), 0);
    settle(&ledger, 0);
    assert_false(kafka_ledger_full(&ledger));
    assert_int_equal(kafka_ledger_commit(&ledger), KAFKA_LEDGER_MAX);
    kafka_ledger_free(&ledger);
}

static void what_is_held_or_settled_is_not_given_again_when_the_partition_comes_back(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 0, 6, true);
    settle(&ledger, 2);
    kafka_ledger_drop(&ledger, 4, print_of(4, 0));
    kafka_ledger_rewind(&ledger);
    assert_int_equal(kafka_ledger_commit(&ledger), -1);
    settle(&ledger, 1);
    read_range(&ledger, 0, 4, false);
    assert_int_equal(kafka_ledger_commit(&ledger), 0);
    settle(&ledger, 0);
    assert_int_equal(kafka_ledger_commit(&ledger), 3);
    read_range(&ledger, 4, 5, true);
    read_range(&ledger, 5, 6, false);
    read_range(&ledger, 6, 7, true);
    for (int64_t offset = 3; offset < 7; offset++)
        settle(&ledger, offset);
    assert_int_equal(kafka_ledger_commit(&ledger), 7);
    kafka_ledger_free(&ledger);
}

static void what_another_member_did_meanwhile_is_passed_over(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 0, 4, true);
    kafka_ledger_rewind(&ledger);
    read_range(&ledger, 3, 4, false);
    read_range(&ledger, 4, 5, true);
    settle(&ledger, 0);
    assert_int_equal(kafka_ledger_commit(&ledger), 3);
    settle(&ledger, 3);
    assert_int_equal(kafka_ledger_commit(&ledger), 4);
    kafka_ledger_free(&ledger);
}

static void what_was_settled_but_not_committed_is_given_again(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 0, 3, true);
    settle(&ledger, 0);
    kafka_ledger_rewind(&ledger);
    read_range(&ledger, 0, 1, true);
    read_range(&ledger, 1, 3, false);
    assert_int_equal(kafka_ledger_commit(&ledger), 0);
    kafka_ledger_free(&ledger);
}

static void another_log_of_the_same_name_is_another_log(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 0, 3, true);
    settle(&ledger, 1);
    kafka_ledger_rewind(&ledger);
    for (int64_t offset = 0; offset < 3; offset++)
        assert_true(kafka_ledger_read(&ledger, offset, print_of(offset, 1)));
    for (int64_t offset = 0; offset < 3; offset++)
        settle(&ledger, offset); /* of the old log */
    assert_int_equal(kafka_ledger_commit(&ledger), 0);
    for (int64_t offset = 0; offset < 3; offset++)
        kafka_ledger_settle(&ledger, offset, print_of(offset, 1));
    assert_int_equal(kafka_ledger_commit(&ledger), 3);
    kafka_ledger_free(&ledger);
}

static void a_log_that_was_cut_back_is_read_anew(void **state) {
    (void)state;
    struct kafka_ledger ledger;
    kafka_ledger_init(&ledger);
    read_range(&ledger, 5, 8, true);
    settle(&ledger, 6);
    read_range(&ledger, 5, 8, false);
    assert_int_equal(kafka_ledger_commit(&ledger), 5);
    settle(&ledger, 5);
    assert_int_equal(kafka_ledger_commit(&ledger), 7);
    kafka_ledger_free(&ledger);
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

static void read_one(struct model *model, struct kafka_ledger *ledger) {
    int64_t at = model->next < 0 ? model->committed : model->next;
    while (at < LOG_LENGTH && !model->exists[at])
        at++;
    if (at == LOG_LENGTH)
        return;
    if (model->next < 0)
        model->from = at;
    bool given = kafka_ledger_read(ledger, at, print_of(at, 0));
    if (model->fates[at] == HELD)
        assert_false(given);
    if (model->fates[at] == UNREAD)
        assert_true(given);
    if (given)
        model->fates[at] = HELD;
    model->next = at + 1;
}

static void change_one(struct model *model, struct kafka_ledger *ledger, struct rng *rng) {
    int64_t at = (int64_t)rng_below(rng, LOG_LENGTH);
    if (model->fates[at] != HELD)
        return;
    model->fates[at] = SETTLED;
    settle(ledger, at);
}

/* What nobody received yet is dropped; what was settled is committed, or that fails. */
static void lose_partition(struct model *model, struct kafka_ledger *ledger, struct rng *rng) {
    if (model->next >= 0 && rng_below(rng, 4) > 0)
        model->committed = model_commit(model);
    for (int64_t at = 0; at < LOG_LENGTH; at++)
        if (model->fates[at] == HELD && rng_below(rng, 3) == 0) {
            model->fates[at] = UNREAD;
            kafka_ledger_drop(ledger, at, print_of(at, 0));
        }
    kafka_ledger_rewind(ledger);
    model->next = -1;
}

static void run_model(uint64_t seed) {
    struct rng rng;
    rng_seed(&rng, seed);
    struct kafka_ledger ledger;
    struct model model = {.next = -1};
    kafka_ledger_init(&ledger);
    for (size_t at = 0; at < LOG_LENGTH; at++)
        model.exists[at] = rng_below(&rng, 10) > 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t die = rng_below(&rng, 200);
        if (die == 0)
            lose_partition(&model, &ledger, &rng);
        else if (die < 60)
            read_one(&model, &ledger);
        else
            change_one(&model, &ledger, &rng);
        assert_int_equal(kafka_ledger_commit(&ledger), model_commit(&model));
    }
    kafka_ledger_free(&ledger);
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
