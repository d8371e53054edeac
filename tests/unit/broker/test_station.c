/* A station without a server: each turn is told, and sleeps until somebody rings. */
#include "test.h"

#include <semaphore.h>

#include "broker/common/station.h"

enum { SLEEP_MS = 60 * 1000 };

static struct station station;
static struct shelf shelf;
static sem_t turned;
static int ends;

static void turn(struct broker *broker) {
    assert_ptr_equal(broker, &station.broker);
    sem_post(&turned);
    bell_wait(&station.bell, -1, SLEEP_MS);
}

static void end(struct broker *broker) {
    assert_ptr_equal(broker, &station.broker);
    ends++;
}

static const struct station_duty duty = {"test-source", turn, end};
static const struct broker_vtable vtable = {.kind = "test"};
static const struct broker_options options = {.queue = {"orders", 6}};

static int set_up(void **state) {
    (void)state;
    ends = 0;
    sem_init(&turned, 0, 0);
    station_init(&station, &vtable, &duty, &shelf, &options);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sem_destroy(&turned);
    return 0;
}

static void ignore(void *arg) {
    (void)arg;
}

static void put(const char *id) {
    struct message *held = message_new();
    held->envelope.id = arena_dup(&held->arena, bytes_of(id));
    assert_true(shelf_put(&shelf, parcel_new(held), false, false));
}

static void one_that_nobody_listens_to_has_no_thread(void **state) {
    (void)state;
    struct broker_health health;
    station_health(&station.broker, &health);
    assert_false(health.connected);
    assert_true(atomic_load(&station.wanted));
    assert_string_equal(station.contact.name, "queue orders: test");
    station_free(&station);
    assert_int_equal(ends, 0);
}

static void whoever_wants_or_settles_wakes_the_thread(void **state) {
    (void)state;
    struct message *held;
    put("a");
    station_listen(&station.broker, ignore, NULL);
    sem_wait(&turned);
    station_want(&station.broker, false);
    sem_wait(&turned);
    assert_false(atomic_load(&station.wanted));
    assert_int_equal(station_receive(&station.broker, (struct instant){{0}, {0}}, &held, 1), 1);
    station_settle(&station.broker, held);
    sem_wait(&turned);
    message_free(held);
    assert_int_equal(ends, 0);
    station_free(&station);
    assert_int_equal(ends, 1);
}

static void the_lag_is_what_waits_there_and_here(void **state) {
    (void)state;
    struct message *held;
    atomic_store(&station.waiting, 5);
    put("a");
    put("b");
    assert_int_equal(station_lag(&station.broker), 7);
    assert_int_equal(station_receive(&station.broker, (struct instant){{0}, {0}}, &held, 1), 1);
    assert_int_equal(station_lag(&station.broker), 6);
    station_hand_back(&station.broker, held, (struct instant){.mono = {90}});
    assert_int_equal(station_lag(&station.broker), 7);
    station_free(&station);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_nobody_listens_to_has_no_thread, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(whoever_wants_or_settles_wakes_the_thread, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_lag_is_what_waits_there_and_here, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("station", tests, NULL, NULL);
}
