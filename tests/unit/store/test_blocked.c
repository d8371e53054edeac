/* A database or a disk that does not answer: who reads it waits for it, and nobody else does. What
 * would hang is held by the test, by the lock that its user holds meanwhile, and let go at the end;
 * everything that must go on is awaited while it is held. */
#include <semaphore.h>
#include <stdio.h>

#include "base/tempdir.h"
#include "base/log.h"
#include "port/clock.h"
#include "port/letters.h"
#include "store/disk_posix.h"
#include "store/embedded/store_internal.h"
#include "test.h"

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static struct clock frozen = {.now = read_clock};

/* A disk whose syncs wait while the test holds `sync_gate`. */
static pthread_mutex_t sync_gate = PTHREAD_MUTEX_INITIALIZER;

static int sync_when_let(struct disk *disk, struct disk_file *file) {
    (void)disk;
    pthread_mutex_lock(&sync_gate);
    int error = disk_posix.vtable->sync(&disk_posix, file);
    pthread_mutex_unlock(&sync_gate);
    return error;
}

static struct disk_vtable slow_vtable;
static struct disk slow_disk = {&slow_vtable};

struct ward {
    char dir[64];
    struct store *store;
    struct sqlite_store *parts;
    uint32_t queue;
};

static void ward_open(struct ward *ward) {
    char path[128];
    struct err err = {0};
    assert_int_equal(tempdir_make("/tmp", "impound-blocked", ward->dir, sizeof ward->dir, NULL),
                     STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.db", ward->dir);
    slow_vtable = *disk_posix.vtable;
    slow_vtable.sync = sync_when_let;
    struct sqlite_store_options options = {
        .path = path, .disk = &slow_disk, .clock = &frozen, .threads = true};
    if (sqlite_store_open(&options, &ward->store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    ward->parts = store_internal_of(ward->store);
    ward->queue = ward->store->vtable->queue_number(ward->store, BYTES("orders"));
}

static void ward_close(struct ward *ward) {
    ward->store->vtable->close(ward->store);
    tempdir_remove(ward->dir);
}

/* ---- commits ---- */

struct push {
    struct store_commit commit;
    struct store_op op;
    sem_t answered;
    enum status status;
};

static void answered(struct store_commit *commit, enum status status) {
    struct push *push = commit->arg;
    push->status = status;
    sem_post(&push->answered);
}

static void submit(struct ward *ward, struct push *push) {
    sem_init(&push->answered, 0, 0);
    push->op.queue = ward->queue;
    push->commit =
        (struct store_commit){.ops = &push->op, .count = 1, .done = answered, .arg = push};
    ward->store->vtable->submit(ward->store, &push->commit);
}

static enum status wait_for(struct push *push) {
    while (sem_wait(&push->answered) != 0) {
    }
    sem_destroy(&push->answered);
    return push->status;
}

static bool is_answered(struct push *push) {
    int count;
    sem_getvalue(&push->answered, &count);
    return count > 0;
}

static struct envelope message(const char *id) {
    return (struct envelope){.id = bytes_of(id),
                             .queue = BYTES("orders"),
                             .source = BYTES("{\"kind\":\"builtin\"}"),
                             .retry_after_ms = -1};
}

/* With `chosen` the store has to look whether the id is held. */
static void push_message(struct ward *ward, struct push *push, const char *id, bool chosen) {
    struct envelope envelope = message(id);
    push->op = (struct store_op){
        .kind = STORE_PUT, .envelope = &envelope, .body = BYTES("{}"), .check_id = chosen};
    submit(ward, push);
}

/* A letter that is in the file, and in memory no more. */
static void put_letter(struct ward *ward, const char *id, const char *letter_id) {
    struct push push;
    struct arena arena;
    struct letters_page page;
    struct letters_query all = {.limit = 1};
    struct envelope envelope = message(id);
    envelope.letter_id = bytes_of(letter_id);
    envelope.dlq = BYTES("orders.dlq");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.category = envelope.reason = BYTES("bug");
    envelope.dead_at = clock_now(&frozen).wall;
    push.op = (struct store_op){.kind = STORE_PUT, .envelope = &envelope, .body = BYTES("{}")};
    submit(ward, &push);
    assert_int_equal(wait_for(&push), STATUS_OK);
    arena_init_heap(&arena, 1024);
    do
        assert_int_equal(letters_list(ward->store->letters, &all, &arena, &page, NULL), STATUS_OK);
    while (page.unlisted > 0);
    arena_free(&arena);
}

/* ---- the database ---- */

static void stop_database(struct ward *ward) {
    for (size_t i = 0; i < 3; i++)
        database_lock(&ward->parts->connections[i]);
}

static void let_database_go(struct ward *ward) {
    for (size_t i = 0; i < 3; i++)
        database_unlock(&ward->parts->connections[i]);
}

/* Until the lookup thread has begun to read for what was submitted. */
static void await_lookup(struct ward *ward) {
    bool taken = false;
    while (!taken) {
        pthread_mutex_lock(&ward->parts->front.mutex);
        taken = ward->parts->looking_first == NULL;
        pthread_mutex_unlock(&ward->parts->front.mutex);
    }
}

struct reading {
    struct ward *ward;
    pthread_t thread;
    enum status status;
};

static void *read_letter(void *arg) {
    struct reading *reading = arg;
    struct message *held = NULL;
    reading->status =
        letters_get(reading->ward->store->letters, BYTES_NONE, BYTES("L-old"), &held, NULL);
    message_free(held);
    return NULL;
}

/* One message through its whole life, as the engine leads it. */
static void push_take_and_forget(struct ward *ward, const char *id) {
    struct push push, change;
    struct message *held = NULL;
    struct store *store = ward->store;
    push_message(ward, &push, id, false);
    assert_int_equal(wait_for(&push), STATUS_OK);
    assert_int_equal(
        store->vtable->take(store, ward->queue, TAKE_READY, clock_now(&frozen), &held, 1), 1);
    held->envelope.state = STATE_PENDING_RETRY;
    held->envelope.next_attempt_at = clock_now(&frozen).wall;
    change.op =
        (struct store_op){.kind = STORE_UPDATE, .seq = held->seq, .envelope = &held->envelope};
    submit(ward, &change);
    assert_int_equal(wait_for(&change), STATUS_OK);
    uint64_t seq = held->seq;
    message_free(held);
    assert_int_equal(
        store->vtable->take(store, ward->queue, TAKE_DUE, clock_now(&frozen), &held, 1), 1);
    message_free(held);
    change.op = (struct store_op){.kind = STORE_FORGET, .seq = seq};
    submit(ward, &change);
    assert_int_equal(wait_for(&change), STATUS_OK);
}

static void a_database_that_hangs_holds_up_only_those_who_read_it(void **state) {
    (void)state;
    struct ward ward;
    struct push chosen, mark;
    ward_open(&ward);
    put_letter(&ward, "old", "L-old");
    stop_database(&ward);
    struct reading reading = {.ward = &ward};
    pthread_create(&reading.thread, NULL, read_letter, &reading);
    push_message(&ward, &chosen, "mine", true);
    await_lookup(&ward);
    mark.op = (struct store_op){.kind = STORE_MARK,
                                .seq = 1,
                                .mark = {.state = STATE_DISCARDED, .at = clock_now(&frozen).wall}};
    submit(&ward, &mark);
    for (int i = 0; i < 100; i++)
        push_take_and_forget(&ward, "other");
    struct store_queue_counts counts;
    ward.store->vtable->counts(ward.store, ward.queue, &counts);
    assert_int_equal(counts.queued, 0);
    assert_int_equal(ward.store->vtable->dlq_depth(ward.store, BYTES("orders.dlq")), 1);
    assert_false(is_answered(&chosen) || is_answered(&mark));
    let_database_go(&ward);
    assert_int_equal(wait_for(&chosen), STATUS_OK);
    assert_int_equal(wait_for(&mark), STATUS_OK);
    pthread_join(reading.thread, NULL);
    assert_int_equal(reading.status, STATUS_OK);
    assert_int_equal(ward.store->vtable->dlq_depth(ward.store, BYTES("orders.dlq")), 0);
    ward_close(&ward);
}

static void what_waited_for_the_database_is_refused_as_ever(void **state) {
    (void)state;
    struct ward ward;
    struct push first, same, other;
    ward_open(&ward);
    stop_database(&ward);
    push_message(&ward, &first, "mine", true);
    push_message(&ward, &same, "mine", true);
    struct envelope envelope = message("mine");
    snprintf(envelope.content_hash, sizeof envelope.content_hash, "%064d", 1);
    other.op = (struct store_op){
        .kind = STORE_PUT, .envelope = &envelope, .body = BYTES("[]"), .check_id = true};
    submit(&ward, &other);
    let_database_go(&ward);
    assert_int_equal(wait_for(&first), STATUS_OK);
    assert_int_equal(wait_for(&same), STATUS_OK);
    assert_int_equal(wait_for(&other), STATUS_CONFLICT);
    assert_true(!first.op.duplicate && same.op.duplicate);
    assert_int_equal(first.op.seq, same.op.seq);
    ward_close(&ward);
}

/* ---- the disk ---- */

static void a_disk_that_hangs_holds_up_only_what_is_to_be_durable(void **state) {
    (void)state;
    struct ward ward;
    struct push before, push;
    struct message *held = NULL;
    ward_open(&ward);
    struct store *store = ward.store;
    push_message(&ward, &before, "before", false);
    assert_int_equal(wait_for(&before), STATUS_OK);
    pthread_mutex_lock(&sync_gate);
    push_message(&ward, &push, "during", false);
    assert_int_equal(
        store->vtable->take(store, ward.queue, TAKE_READY, clock_now(&frozen), &held, 1), 1);
    assert_true(bytes_is(held->envelope.id, "before"));
    store->vtable->give_back(store, held, clock_now(&frozen).mono);
    struct store_queue_counts counts;
    struct store_health health;
    store->vtable->counts(store, ward.queue, &counts);
    store->vtable->health(store, &health);
    assert_int_equal(counts.queued, 1);
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("before"), &held, NULL),
                     STATUS_OK);
    message_free(held);
    assert_false(is_answered(&push));
    pthread_mutex_unlock(&sync_gate);
    assert_int_equal(wait_for(&push), STATUS_OK);
    ward_close(&ward);
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_that_hangs_holds_up_only_those_who_read_it),
        cmocka_unit_test(what_waited_for_the_database_is_refused_as_ever),
        cmocka_unit_test(a_disk_that_hangs_holds_up_only_what_is_to_be_durable),
    };
    return cmocka_run_group_tests_name("store blocked", tests, NULL, NULL);
}
