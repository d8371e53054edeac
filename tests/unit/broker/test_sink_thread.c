/* The thread of a sink, with an adapter that only writes down what it was given. */
#include "broker/common/sink_thread.h"

#include <semaphore.h>

#include "base/containers/list.h"
#include "test.h"

enum { ITEMS = 200 };

struct noting {
    struct sink_thread thread;
    size_t at_once; /* of a batch so many are published */
    size_t calls, largest, ended;
    sem_t answered;
    sem_t go; /* the first batch waits for it, so that the others are posted together */
};

static size_t next_id; /* of the items, in the order of their answers */

static struct noting *noting_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct noting, thread.sink);
}

static struct instant no_time(struct clock *clock) {
    (void)clock;
    return (struct instant){{0}, {0}};
}

static struct clock stopped = {.now = no_time};

static size_t publish(struct sink *sink, struct sink_item **items, size_t count) {
    struct noting *noting = noting_of(sink);
    if (noting->calls++ == 0)
        sem_wait(&noting->go);
    if (count > noting->largest)
        noting->largest = count;
    if (count > noting->at_once)
        count = noting->at_once;
    for (size_t i = 0; i < count; i++) {
        items[i]->done(items[i], STATUS_OK, NULL);
        sem_post(&noting->answered);
    }
    return count;
}

static void end(struct sink *sink) {
    noting_of(sink)->ended++;
}

static void release(struct sink *sink) {
    sink_thread_free(&noting_of(sink)->thread);
}

static const struct sink_vtable vtable = {
    .kind = "noting", .publish = sink_thread_publish, .free = release};
static const struct sink_thread_work work = {.name = "noting", .publish = publish, .end = end};

static void on_done(struct sink_item *item, enum status status, const struct err *err) {
    (void)err;
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(item->id.len, next_id++);
}

/* Whatever part of a batch the adapter takes, each item is published once and in its turn. */
static void items_are_published_in_order_and_in_bounded_batches(void **state) {
    (void)state;
    static const size_t at_once[] = {1, 7, SINK_THREAD_BATCH_MAX};
    static const char text[ITEMS];
    for (size_t k = 0; k < sizeof at_once / sizeof *at_once; k++) {
        struct noting noting = {.at_once = at_once[k]};
        struct sink_item items[ITEMS];
        sem_init(&noting.answered, 0, 0);
        sem_init(&noting.go, 0, 0);
        next_id = 0;
        sink_thread_init(&noting.thread, &vtable, &work, &(struct sink_options){.clock = &stopped});
        sink_thread_start(&noting.thread);
        struct sink *sink = &noting.thread.sink;
        for (size_t i = 0; i < ITEMS; i++) {
            items[i] = (struct sink_item){.id = {text, i}, .done = on_done};
            sink->vtable->publish(sink, &items[i]);
        }
        sem_post(&noting.go);
        for (size_t i = 0; i < ITEMS; i++)
            sem_wait(&noting.answered);
        sink->vtable->free(sink);
        assert_int_equal(next_id, ITEMS);
        assert_int_equal(noting.largest, SINK_THREAD_BATCH_MAX);
        assert_int_equal(noting.ended, 1);
        sem_destroy(&noting.answered);
        sem_destroy(&noting.go);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_published_in_order_and_in_bounded_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
