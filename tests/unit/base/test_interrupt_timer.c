#include "base/thread/interrupt_timer.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/thread/thread.h"
#include "test.h"

enum { OFTEN_MS = 1, NEVER_MS = 3600 * 1000 };

static void *read_nothing(void *arg) {
    bool *left = arg;
    struct interrupt_timer nudge;
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return NULL;
    interrupt_timer_begin(&nudge, OFTEN_MS);
    *left = read(ends[0], &byte, 1) == -1 && errno == EINTR;
    *left &= interrupt_timer_end(&nudge);
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

static void a_wait_without_end_is_left(void **state) {
    (void)state;
    bool left = false;
    read_nothing(&left);
    assert_true(left);
}

static void so_it_is_by_a_thread_that_gets_no_signals(void **state) {
    (void)state;
    pthread_t thread;
    bool left = false;
    thread_start(&thread, "reader", read_nothing, &left);
    pthread_join(thread, NULL);
    assert_true(left);
}

static void who_is_in_time_is_not_nudged(void **state) {
    (void)state;
    struct interrupt_timer nudge;
    interrupt_timer_begin(&nudge, NEVER_MS);
    assert_false(interrupt_timer_end(&nudge));
}

static void the_signals_are_as_they_were(void **state) {
    (void)state;
    struct interrupt_timer nudge;
    sigset_t all, before, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    interrupt_timer_begin(&nudge, NEVER_MS);
    interrupt_timer_end(&nudge);
    pthread_sigmask(SIG_SETMASK, &before, &now);
    for (int at = SIGRTMIN; at <= SIGRTMAX; at++)
        assert_int_equal(sigismember(&now, at), 1);
}

static size_t threads_now(void) {
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

static void no_thread_is_needed(void **state) {
    (void)state;
    struct interrupt_timer nudge;
    size_t before = threads_now();
    interrupt_timer_begin(&nudge, NEVER_MS);
    assert_int_equal(threads_now(), before);
    interrupt_timer_end(&nudge);
}

static void without_a_timer_nobody_is_nudged(void **state) {
    (void)state;
    struct interrupt_timer nudge;
    struct rlimit before, none;
    getrlimit(RLIMIT_SIGPENDING, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_SIGPENDING, &none);
    interrupt_timer_begin(&nudge, OFTEN_MS);
    setrlimit(RLIMIT_SIGPENDING, &before);
    assert_false(nudge.armed);
    assert_false(interrupt_timer_end(&nudge));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_without_end_is_left),
        cmocka_unit_test(so_it_is_by_a_thread_that_gets_no_signals),
        cmocka_unit_test(who_is_in_time_is_not_nudged),
        cmocka_unit_test(the_signals_are_as_they_were),
        cmocka_unit_test(no_thread_is_needed),
        cmocka_unit_test(without_a_timer_nobody_is_nudged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
