/* Entries on threads of their own: none waits for another one's broker, and none turns without
 * cause. */
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "broker/registry.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/adopt/adopt.h"

enum { SILENT, TAKEN, ENTRIES, SETTLED_MS = 50, READINGS_A_SECOND = 10 };

static struct store *store;
static struct triage triage;
static const struct adopt_entry entries[ENTRIES] = {
    [SILENT] = {.name = BYTES("silent"), .dlq = BYTES("a.dlq"), .mode = ADOPT_PEEK},
    [TAKEN] = {.name = BYTES("taken"), .dlq = BYTES("b.dlq"), .mode = ADOPT_TAKE},
};

static atomic_uint readings; /* one for each time round, and a few for what is done there */

static struct mono machine_now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (struct mono){at.tv_sec * 1000 + at.tv_nsec / 1000000};
}

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    readings++;
    return (struct instant){{1763182181123}, machine_now()};
}
static struct clock test_clock = {.now = read_clock};

/* ---- a broker that does not answer ---- */

static sem_t asked, answer;

static enum status next(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err) {
    (void)peek;
    (void)out;
    (void)max;
    (void)err;
    sem_post(&asked);
    sem_wait(&answer);
    *count = 0;
    return STATUS_OK;
}

static void peek_free(struct peek *peek) {
    (void)peek;
}

static struct peek *open_peek(void *arg, const struct adopt_entry *entry) {
    static const struct peek_vtable vtable = {.next = next, .free = peek_free};
    static struct peek silent = {&vtable};
    (void)arg;
    assert_ptr_equal(entry, &entries[SILENT]);
    return &silent;
}

/* ---- a broker that rings, and has nothing ---- */

static sem_t listening;
static void (*ring)(void *arg);
static void *ring_arg;
static atomic_uint receipts;

static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    (void)broker;
    (void)now;
    (void)out;
    (void)max;
    receipts++;
    return 0;
}

static uint64_t lag(struct broker *broker) {
    (void)broker;
    return 1;
}

static struct mono next_wake(struct broker *broker) {
    (void)broker;
    return MONO_NEVER;
}

static void listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    (void)broker;
    ring = ready;
    ring_arg = arg;
    sem_post(&listening);
}

static void broker_free(struct broker *broker) {
    (void)broker;
}

static struct broker *open_broker(void *arg, const struct adopt_entry *entry) {
    static const struct broker_vtable vtable = {.receive = receive,
                                                .lag = lag,
                                                .next_wake = next_wake,
                                                .listen = listen,
                                                .free = broker_free};
    static struct broker broker = {&vtable};
    (void)arg;
    assert_ptr_equal(entry, &entries[TAKEN]);
    return &broker;
}

/* ---- both ---- */

static struct adopt_dlq dlq_says(void *arg, struct bytes name, struct arena *arena) {
    (void)arg;
    (void)name;
    (void)arena;
    return (struct adopt_dlq){.cap = 10};
}

static struct adopt *adopt;

static void *run_silent(void *arg) {
    adopt_run(adopt, SILENT);
    return arg;
}

static void *run_taken(void *arg) {
    adopt_run(adopt, TAKEN);
    return arg;
}

static void await_receipts(unsigned least) {
    for (struct timespec moment = {0, 1000000}; receipts < least;)
        nanosleep(&moment, NULL);
}

static enum adopt_state state_of(size_t place) {
    struct adopt_view view;
    adopt_look(adopt, place, &view);
    return view.state;
}

static void who_waits_for_a_broker_holds_up_nobody_and_a_ring_is_one_turn(void **state) {
    pthread_t threads[ENTRIES];
    (void)state;
    pthread_create(&threads[SILENT], NULL, run_silent, NULL);
    sem_wait(&asked);
    pthread_create(&threads[TAKEN], NULL, run_taken, NULL);
    sem_wait(&listening);
    await_receipts(1);
    ring(ring_arg);
    await_receipts(2);
    assert_int_equal(state_of(SILENT), ADOPT_WAITING);
    assert_int_equal(state_of(TAKEN), ADOPT_READING);

    /* That nothing happens has no event: a moment must do. It may be a long one. */
    struct mono from = machine_now();
    unsigned before = readings;
    nanosleep(&(struct timespec){0, SETTLED_MS * 1000000}, NULL);
    unsigned after = readings;
    int64_t seconds = 1 + (machine_now().ms - from.ms) / 1000;
    assert_in_range(after, before, before + (uint64_t)seconds * READINGS_A_SECOND);

    adopt_stop(adopt);
    sem_post(&answer);
    for (size_t i = 0; i < ENTRIES; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(state_of(SILENT), ADOPT_DONE);
}

/* ---- lives ---- */

static int start(void **state) {
    (void)state;
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    sem_init(&asked, 0, 0);
    sem_init(&answer, 0, 0);
    sem_init(&listening, 0, 0);
    adopt = adopt_new(&(struct adopt_options){.triage = &triage,
                                              .brokers = registry_kinds,
                                              .entries = entries,
                                              .count = ENTRIES,
                                              .peek = open_peek,
                                              .take = open_broker,
                                              .dlq = dlq_says});
    return 0;
}

static int end(void **state) {
    (void)state;
    adopt_free(adopt);
    triage_free(&triage);
    store->vtable->close(store);
    return 0;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            who_waits_for_a_broker_holds_up_nobody_and_a_ring_is_one_turn, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
