/* A source thread without a server: each turn is counted, and sleeps until the wakeup rings. */
#include "test.h"

#include <semaphore.h>

#include "broker/common/source_thread.h"

enum { SLEEP_MS = 60 * 1000 };

static struct source_thread thread;
static struct inflight inflight;
static sem_t turned;
static int ends;

static void turn(struct broker *broker) {
    assert_ptr_equal(broker, &thread.broker);
    sem_post(&turned);
    wakeup_wait(&thread.wakeup, -1, SLEEP_MS);
}

static void end(struct broker *broker) {
    assert_ptr_equal(broker, &thread.broker);
    ends++;
}

static const struct source_thread_work thread_work = {"test-source", turn, end};
static const struct broker_vtable vtable = {.kind = "test"};
static const struct broker_options options = {.queue = {"orders", 6}};

static int set_up(void **state) {
    (void)state;
    ends = 0;
    sem_init(&turned, 0, 0);
    source_thread_init(&thread, &vtable, &thread_work, &inflight, &options);
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
    assert_true(inflight_put(&inflight, delivery_new(held), false, false));
}

static void one_that_nobody_listens_to_has_no_thread(void **state) {
    (void)state;
    struct broker_health health;
    source_thread_health(&thread.broker, &health);
    assert_false(health.connected);
    assert_true(atomic_load(&thread.wanted));
    assert_string_equal(thread.state.name, "queue orders: test");
    source_thread_free(&thread);
    assert_int_equal(ends, 0);
}

static void whoever_wants_or_settles_wakes_the_thread(void **state) {
    (void)state;
    struct message *held;
    put("a");
    source_thread_listen(&thread.broker, ignore, NULL);
    sem_wait(&turned);
    source_thread_want(&thread.broker, false);
    sem_wait(&turned);
    assert_false(atomic_load(&thread.wanted));
    assert_int_equal(source_thread_receive(&thread.broker, (struct instant){{0}, {0}}, &held, 1),
                     1);
    source_thread_settle(&thread.broker, held);
    sem_wait(&turned);
    message_free(held);
    assert_int_equal(ends, 0);
    source_thread_free(&thread);
    assert_int_equal(ends, 1);
}

static void the_lag_is_what_waits_there_and_here(void **state) {
    (void)state;
    struct message *held;
    atomic_store(&thread.waiting, 5);
    put("a");
    put("b");
    assert_int_equal(source_thread_lag(&thread.broker), 7);
    assert_int_equal(source_thread_receive(&thread.broker, (struct instant){{0}, {0}}, &held, 1),
                     1);
    assert_int_equal(source_thread_lag(&thread.broker), 6);
    source_thread_hand_back(&thread.broker, held, (struct instant){.mono = {90}});
    assert_int_equal(source_thread_lag(&thread.broker), 7);
    source_thread_free(&thread);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_nobody_listens_to_has_no_thread, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(whoever_wants_or_settles_wakes_the_thread, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_lag_is_what_waits_there_and_here, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("source_thread", tests, NULL, NULL);
}
