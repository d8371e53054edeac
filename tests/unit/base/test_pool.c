#include "test.h"

#include <pthread.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/thread/mailbox.h"
#include "base/thread/pool.h"

enum { SMALL = 100, LARGE = 3000, HUGE_ONE = 100000, MANY = 5000 };

/* To its last byte: a sanitizer, or the heap, notices one that is too small. */
static void *filled(struct pool *pool, size_t size) {
    return memset(pool_get(pool, size), 'x', size);
}

static void what_is_given_back_is_used_again(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    void *first = filled(pool, SMALL);
    pool_put(first);
#ifndef __SANITIZE_ADDRESS__ /* there, nothing is kept */
    assert_ptr_equal(filled(pool, SMALL / 2), first);
    pool_put(first);
#endif
    pool_close(pool);
}

static void a_block_is_as_large_as_it_is_wanted(void **state) {
    (void)state;
    static const size_t sizes[] = {SMALL, LARGE, HUGE_ONE, 1, LARGE, SMALL};
    struct pool *pool = pool_new();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pool_put(filled(pool, sizes[i]));
    pool_close(pool);
}

static void two_that_are_out_are_two(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    char *one = filled(pool, SMALL), *other = filled(pool, SMALL);
    memset(one, '1', SMALL);
    memset(other, '2', SMALL);
    assert_int_equal(one[SMALL - 1], '1');
    pool_put(one);
    pool_put(other);
    pool_trim(pool);
    pool_close(pool);
}

static void it_lives_until_the_last_block_is_back(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    char *early = filled(pool, SMALL), *late = filled(pool, SMALL);
    pool_put(early);
    pool_close(pool);
    assert_int_equal(late[SMALL - 1], 'x');
    pool_put(late);
}

/* ---- two threads ---- */

struct parcel {
    struct mail mail;
    size_t size;
    char text[];
};

static bool is_whole(const struct parcel *parcel) {
    for (size_t i = 0; i < parcel->size; i++)
        if (parcel->text[i] != (char)parcel->size)
            return false;
    return true;
}

struct receiver {
    struct mailbox box;
    size_t whole, broken;
};

/* Gives back what comes. */
static void *give_back(void *arg) {
    struct receiver *receiver = arg;
    while (receiver->whole + receiver->broken < MANY) {
        struct mail *next;
        mailbox_wait(&receiver->box, MONO_NEVER);
        for (struct mail *mail = mailbox_take(&receiver->box); mail; mail = next) {
            struct parcel *parcel = CONTAINER_OF(mail, struct parcel, mail);
            next = mail->next;
            *(is_whole(parcel) ? &receiver->whole : &receiver->broken) += 1;
            pool_put(parcel);
        }
    }
    return NULL;
}

static void post(struct pool *pool, struct mailbox *box, size_t size) {
    struct parcel *parcel = pool_get(pool, sizeof *parcel + size);
    parcel->size = size;
    memset(parcel->text, (char)size, size);
    mailbox_post(box, &parcel->mail);
}

static void another_thread_gives_back(void **state) {
    (void)state;
    struct pool *pool = pool_new();
    struct receiver receiver = {.whole = 0};
    pthread_t thread;
    mailbox_init(&receiver.box);
    assert_int_equal(pthread_create(&thread, NULL, give_back, &receiver), 0);
    for (size_t i = 0; i < MANY; i++)
        post(pool, &receiver.box, i % LARGE);
    pool_close(pool); /* while blocks are on their way */
    pthread_join(thread, NULL);
    assert_int_equal(receiver.whole, MANY);
    mailbox_free(&receiver.box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_back_is_used_again),
        cmocka_unit_test(a_block_is_as_large_as_it_is_wanted),
        cmocka_unit_test(two_that_are_out_are_two),
        cmocka_unit_test(it_lives_until_the_last_block_is_back),
        cmocka_unit_test(another_thread_gives_back),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
