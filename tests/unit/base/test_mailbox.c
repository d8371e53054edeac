#include "base/thread/mailbox.h"

#include <time.h>

#include "base/containers/list.h"
#include "base/thread/thread.h"
#include "test.h"

enum { LETTERS = 20000, SHORT_MS = 20 };

static struct mailbox box;

static int make_box(void **state) {
    (void)state;
    mailbox_init(&box);
    return 0;
}

static int free_box(void **state) {
    (void)state;
    mailbox_free(&box);
    return 0;
}

static struct mono now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (struct mono){(int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000};
}

struct letter {
    struct mail mail;
    int number;
};

static struct letter letters[LETTERS];

static int number_of(struct mail *mail) {
    return CONTAINER_OF(mail, struct letter, mail)->number;
}

static void all_mail_comes_in_the_order_it_was_posted_in(void **state) {
    (void)state;
    assert_null(mailbox_take(&box));
    for (int i = 0; i < 3; i++) {
        letters[i].number = i;
        mailbox_post(&box, &letters[i].mail);
    }
    mailbox_wait(&box, MONO_NEVER);
    struct mail *mail = mailbox_take(&box);
    for (int i = 0; i < 3; i++, mail = mail->next)
        assert_int_equal(number_of(mail), i);
    assert_null(mail);
    assert_null(mailbox_take(&box));
}

static void *post_all(void *arg) {
    for (int i = 0; i < LETTERS; i++) {
        letters[i].number = i;
        mailbox_post(arg, &letters[i].mail);
    }
    return NULL;
}

/* It would wait for ever if it was not woken. */
static void the_reader_is_woken_for_all_of_it(void **state) {
    pthread_t thread;
    int read = 0;
    (void)state;
    thread_start(&thread, "post", post_all, &box);
    while (read < LETTERS) {
        mailbox_wait(&box, MONO_NEVER);
        struct mail *mail = mailbox_take(&box);
        assert_non_null(mail);
        for (; mail; mail = mail->next)
            assert_int_equal(number_of(mail), read++);
    }
    pthread_join(thread, NULL);
}

static bool waits_for_its_time(void) {
    struct mono until = mono_after(now(), SHORT_MS);
    mailbox_wait(&box, until);
    return now().ms >= until.ms;
}

static void a_ring_ends_one_wait(void **state) {
    (void)state;
    mailbox_ring(&box);
    mailbox_ring(&box);
    mailbox_wait(&box, MONO_NEVER);
    assert_true(waits_for_its_time());
}

static void who_takes_has_heard_the_ring(void **state) {
    (void)state;
    mailbox_ring(&box);
    assert_null(mailbox_take(&box));
    assert_true(waits_for_its_time());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_mail_comes_in_the_order_it_was_posted_in, make_box,
                                        free_box),
        cmocka_unit_test_setup_teardown(the_reader_is_woken_for_all_of_it, make_box, free_box),
        cmocka_unit_test_setup_teardown(a_ring_ends_one_wait, make_box, free_box),
        cmocka_unit_test_setup_teardown(who_takes_has_heard_the_ring, make_box, free_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
