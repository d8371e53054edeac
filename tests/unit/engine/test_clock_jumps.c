/* How old something is, whatever was done to the wall clock meanwhile. */
#include "engine/judge/clock_jumps.h"
#include "test.h"

enum { HOUR_MS = 3600000 };

struct world {
    struct clock_jumps jumps;
    struct instant now;
};

static struct world begin(void) {
    struct world world = {.now = {{1700000000000}, {5000}}};
    clock_jumps_note(&world.jumps, world.now);
    return world;
}

static void pass(struct world *world, int64_t ms) {
    world->now.wall.ms += ms;
    world->now.mono.ms += ms;
    clock_jumps_note(&world->jumps, world->now);
}

static void set_ahead(struct world *world, int64_t ms) {
    world->now.wall.ms += ms;
    clock_jumps_note(&world->jumps, world->now);
}

static int64_t age(const struct world *world, struct wall since) {
    return clock_jumps_evenly(&world->jumps, since, world->now.wall).ms - since.ms;
}

static void what_was_before_a_leap_is_as_old_as_the_time_that_passed(void **state) {
    (void)state;
    struct world world = begin();
    struct wall first = world.now.wall;
    pass(&world, 10);
    struct wall second = world.now.wall;
    set_ahead(&world, HOUR_MS);
    struct wall third = world.now.wall;
    pass(&world, 5);
    set_ahead(&world, 2 * HOUR_MS);
    pass(&world, 5);
    assert_int_equal(age(&world, first), 20);
    assert_int_equal(age(&world, second), 10);
    assert_int_equal(age(&world, third), 10);
    assert_int_equal(age(&world, world.now.wall), 0);
}

static void a_clock_set_back_takes_back_leaps(void **state) {
    (void)state;
    struct world world = begin();
    struct wall first = world.now.wall;
    set_ahead(&world, HOUR_MS);
    set_ahead(&world, HOUR_MS);
    set_ahead(&world, -HOUR_MS / 2);
    assert_int_equal(age(&world, first), 0);
    set_ahead(&world, -HOUR_MS * 3 / 2);
    pass(&world, 7);
    assert_int_equal(age(&world, first), 7);
    assert_int_equal(world.jumps.count, 0);
}

static void a_clock_set_back_makes_nobody_older(void **state) {
    (void)state;
    struct world world = begin();
    struct wall first = world.now.wall;
    set_ahead(&world, -HOUR_MS);
    pass(&world, 7);
    assert_true(age(&world, first) <= 7);
}

static void a_clock_that_is_adjusted_does_not_leap(void **state) {
    (void)state;
    struct world world = begin();
    for (int i = 0; i < 3 * CLOCK_JUMPS_MAX; i++)
        set_ahead(&world, CLOCK_JUMPS_SHORTEST_MS - 1);
    assert_int_equal(world.jumps.count, 0);
    set_ahead(&world, CLOCK_JUMPS_SHORTEST_MS);
    assert_int_equal(world.jumps.count, 1);
}

static void more_leaps_than_are_known_make_nobody_older(void **state) {
    (void)state;
    struct world world = begin();
    struct wall first = world.now.wall;
    struct wall then[3 * CLOCK_JUMPS_MAX];
    for (int i = 0; i < 3 * CLOCK_JUMPS_MAX; i++) {
        pass(&world, 1);
        then[i] = world.now.wall;
        set_ahead(&world, HOUR_MS);
    }
    assert_int_equal(age(&world, first), 3 * CLOCK_JUMPS_MAX);
    for (int i = 0; i < 3 * CLOCK_JUMPS_MAX; i++)
        assert_true(age(&world, then[i]) <= 3 * CLOCK_JUMPS_MAX - 1 - i);
    assert_int_equal(age(&world, then[3 * CLOCK_JUMPS_MAX - 1]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_before_a_leap_is_as_old_as_the_time_that_passed),
        cmocka_unit_test(a_clock_set_back_takes_back_leaps),
        cmocka_unit_test(a_clock_set_back_makes_nobody_older),
        cmocka_unit_test(a_clock_that_is_adjusted_does_not_leap),
        cmocka_unit_test(more_leaps_than_are_known_make_nobody_older),
    };
    return cmocka_run_group_tests_name("leaps", tests, NULL, NULL);
}
