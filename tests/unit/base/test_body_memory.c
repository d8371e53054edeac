/* The account of bodies in memory: its two sides, its limit, and who is told when it shrinks. */
#include "base/body_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void count_call(void *arg) {
    ++*(int *)arg;
}

static void test_each_side_has_half_of_the_limit(void **state) {
    (void)state;
    struct body_memory *memory = body_memory_new(100);
    assert_int_equal(body_memory_limit(memory), 100);
    body_memory_add(memory, BODY_MEMORY_REQUESTS, 50);
    assert_false(body_memory_has_room(memory, BODY_MEMORY_REQUESTS));
    assert_true(body_memory_has_room(memory, BODY_MEMORY_MESSAGES));
    body_memory_add(memory, BODY_MEMORY_MESSAGES, 49);
    assert_true(body_memory_has_room(memory, BODY_MEMORY_MESSAGES));
    body_memory_add(memory, BODY_MEMORY_MESSAGES, 1000); /* what exists is counted */
    assert_int_equal(body_memory_used(memory, BODY_MEMORY_MESSAGES), 1049);
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, 1000);
    body_memory_sub(memory, BODY_MEMORY_REQUESTS, 1);
    assert_true(body_memory_has_room(memory, BODY_MEMORY_REQUESTS));
    assert_true(body_memory_has_room(memory, BODY_MEMORY_MESSAGES));
    body_memory_free(memory);
}

static void test_who_wants_memory_is_told_once(void **state) {
    (void)state;
    struct body_memory *memory = body_memory_new(10);
    int calls = 0;
    body_memory_listen(memory, count_call, &calls);
    body_memory_add(memory, BODY_MEMORY_MESSAGES, 30);
    body_memory_add(memory, BODY_MEMORY_REQUESTS, 30);
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, 5);
    assert_int_equal(calls, 0);
    body_memory_want(memory);
    body_memory_sub(memory, BODY_MEMORY_REQUESTS, 30);
    assert_int_equal(calls, 0); /* that side is not the listener's */
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, 5);
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, 5);
    assert_int_equal(calls, 1);
    body_memory_want(memory);
    body_memory_listen(memory, NULL, NULL);
    body_memory_sub(memory, BODY_MEMORY_MESSAGES, 15);
    assert_int_equal(calls, 1);
    body_memory_free(memory);
}

static void test_no_account_has_no_limit(void **state) {
    (void)state;
    body_memory_add(NULL, BODY_MEMORY_MESSAGES, SIZE_MAX);
    assert_true(body_memory_has_room(NULL, BODY_MEMORY_MESSAGES));
    assert_int_equal(body_memory_used(NULL, BODY_MEMORY_MESSAGES), 0);
    body_memory_sub(NULL, BODY_MEMORY_MESSAGES, 1);
    body_memory_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_side_has_half_of_the_limit),
        cmocka_unit_test(test_who_wants_memory_is_told_once),
        cmocka_unit_test(test_no_account_has_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
