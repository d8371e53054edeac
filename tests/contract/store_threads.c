/* Many producers with the same ids, one engine and one reader at once: each id is put once, taken
 * once, and ends where it was sent, whoever writes the commits. Many rows in one fold are all
 * written, also by a second try. */
#include "store_subject.h"

#include <semaphore.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum { PRODUCERS = 4, IDS = 400, BATCH = 8, CLOSINGS = 20 };

struct crowd {
    struct subject *subject;
    pthread_mutex_t mutex;
    size_t put, ended, letters;
};

static void name_message(struct envelope *envelope, char id[16], char letter[16], size_t number) {
    snprintf(id, 16, "m%zu", number);
    snprintf(letter, 16, "L%zu", number);
    *envelope = (struct envelope){
        .id = bytes_of(id),
        .queue = BYTES("orders"),
        .source = BYTES("{\"kind\":\"builtin\"}"),
        .retry_after_ms = -1,
        .created_at = {1700000000000},
    };
    memset(envelope->content_hash, 'a', 64);
}

static void push_batch(struct crowd *crowd, size_t first) {
    struct envelope envelopes[BATCH];
    char ids[BATCH][16], letters[BATCH][16];
    struct store_op ops[BATCH] = {0};
    for (size_t i = 0; i < BATCH; i++) {
        name_message(&envelopes[i], ids[i], letters[i], first + i);
        ops[i] = (struct store_op){.kind = STORE_PUT,
                                   .queue = crowd->subject->queue,
                                   .envelope = &envelopes[i],
                                   .body = bytes_of(ids[i]),
                                   .check_id = true};
    }
    assert_int_equal(subject_commit(crowd->subject, ops, BATCH), STATUS_OK);
    pthread_mutex_lock(&crowd->mutex);
    for (size_t i = 0; i < BATCH; i++)
        crowd->put += !ops[i].duplicate;
    pthread_mutex_unlock(&crowd->mutex);
}

static void *produce(void *arg) {
    for (size_t first = 0; first < IDS; first += BATCH)
        push_batch(arg, first);
    return NULL;
}

/* Nothing is forgotten while producers run, so that an id that comes again is a duplicate. */
static void end_one(struct crowd *crowd, struct message *held) {
    char letter[16];
    struct store_op op = {.kind = STORE_UPDATE, .queue = crowd->subject->queue, .seq = held->seq};
    assert_true(bytes_eq(held->body, held->envelope.id));
    snprintf(letter, sizeof letter, "L%.*s", BYTES_ARG(bytes_cut(held->envelope.id, 1, 16)));
    held->envelope.state = held->seq % 2 ? STATE_PENDING_REVIEW : STATE_DISCARDED;
    held->envelope.letter_id = bytes_of(letter);
    held->envelope.dlq = BYTES("orders.dlq");
    held->envelope.dead_at = held->envelope.created_at;
    op.envelope = &held->envelope;
    assert_int_equal(subject_commit(crowd->subject, &op, 1), STATUS_OK);
    crowd->letters += held->envelope.state == STATE_PENDING_REVIEW;
    crowd->ended++;
    message_free(held);
}

static void *work(void *arg) {
    struct crowd *crowd = arg;
    while (crowd->ended < IDS) {
        struct message *held = subject_take(crowd->subject, TAKE_READY);
        if (held)
            end_one(crowd, held);
    }
    return NULL;
}

static void *look(void *arg) {
    struct crowd *crowd = arg;
    struct store *store = crowd->subject->store;
    for (int i = 0; i < 20; i++) {
        struct arena arena;
        arena_init_heap(&arena, 4096);
        struct letters_page page;
        struct message *held = NULL;
        struct err err;
        struct letters_query query = {.limit = 50};
        assert_int_equal(letters_list(store->letters, &query, &arena, &page, &err), STATUS_OK);
        enum status status = letters_get(store->letters, BYTES_NONE, BYTES("m7"), &held, &err);
        assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
        if (status == STATUS_OK)
            message_free(held);
        arena_free(&arena);
    }
    return NULL;
}

static void run_crowd(struct subject *subject) {
    struct crowd crowd = {.subject = subject, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[PRODUCERS + 2];
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, produce, &crowd);
    pthread_create(&threads[PRODUCERS], NULL, work, &crowd);
    pthread_create(&threads[PRODUCERS + 1], NULL, look, &crowd);
    for (size_t i = 0; i < PRODUCERS + 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.put, IDS);
    assert_int_equal(crowd.ended, IDS);
    assert_null(subject_take(crowd.subject, TAKE_READY));
    struct store *store = crowd.subject->store;
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), crowd.letters);
    subject_reopen(crowd.subject);
    store = crowd.subject->store;
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), crowd.letters);
    assert_null(subject_take(crowd.subject, TAKE_READY));
    subject_free(crowd.subject);
}

static void each_id_is_put_once_and_taken_once(void **state) {
    run_crowd(subject_new(*state));
}

/* ---- commits by those who wait for them ---- */

static void so_it_is_when_everybody_waits(void **state) {
    struct subject *subject = subject_new(*state);
    subject->waits = true;
    run_crowd(subject);
}

struct reply {
    struct subject *subject;
    struct store_commit commit;
    size_t number; /* of the message */
    pthread_t by;
    sem_t given;
    enum status status;
};

static void replied(struct store_commit *commit, enum status status) {
    struct reply *reply = commit->arg;
    reply->by = pthread_self();
    reply->status = status;
    sem_post(&reply->given);
}

static void *put_and_wait(void *arg) {
    struct reply *reply = arg;
    struct envelope envelope;
    char id[16], letter[16];
    name_message(&envelope, id, letter, ++reply->number);
    struct store_op op = {.kind = STORE_PUT,
                          .queue = reply->subject->queue,
                          .envelope = &envelope,
                          .body = bytes_of(id)};
    reply->commit = (struct store_commit){
        .ops = &op, .count = 1, .done = replied, .arg = reply, .caller_waits = true};
    reply->subject->store->vtable->submit(reply->subject->store, &reply->commit);
    return NULL;
}

static void who_waits_alone_is_answered_on_its_own_thread(void **state) {
    struct reply reply = {.subject = subject_new(*state)};
    sem_init(&reply.given, 0, 0);
    put_and_wait(&reply);
    assert_int_equal(sem_trywait(&reply.given), 0);
    assert_true(pthread_equal(reply.by, pthread_self()));
    assert_int_equal(reply.status, STATUS_OK);
    subject_reopen(reply.subject);
    struct message *held = subject_take(reply.subject, TAKE_READY);
    assert_non_null(held);
    message_free(held);
    sem_destroy(&reply.given);
    subject_free(reply.subject);
}

/* The answer comes before its thread has left the store. */
static void closing_waits_for_who_writes(void **state) {
    struct reply reply = {.subject = subject_new(*state)};
    sem_init(&reply.given, 0, 0);
    for (size_t i = 0; i < CLOSINGS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, put_and_wait, &reply);
        sem_wait(&reply.given);
        assert_int_equal(reply.status, STATUS_OK);
        subject_reopen(reply.subject);
        pthread_join(thread, NULL);
    }
    sem_destroy(&reply.given);
    subject_free(reply.subject);
}

static void a_store_is_open_in_one_process_at_a_time(void **state) {
    struct subject *subject = subject_new(*state);
    char path[96];
    snprintf(path, sizeof path, "%s/impound.db", subject->dir);
    struct sqlite_store_options options = {
        .path = path, .disk = &disk_posix, .clock = &subject->time.clock, .threads = true};
    struct store *second = NULL;
    struct err err;
    assert_int_equal(sqlite_store_open(&options, &second, &err), STATUS_BUSY);
    subject_free(subject);
}

/* A child that has not executed anything yet has what its parent had, also when that is gone. This
 * one lives until somebody else comes for the lock. */
static void who_comes_after_a_killed_one_waits_for_its_last_child(void **state) {
    struct subject *subject = subject_new(*state);
    char path[96], event[256];
    snprintf(path, sizeof path, "%s/impound.db.d/lock", subject->dir);
    int watch = inotify_init1(IN_CLOEXEC);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    pid_t child = fork();
    if (child == 0) {
        ssize_t heard = read(watch, event, sizeof event);
        kill(getpid(), heard > 0 ? SIGKILL : SIGABRT);
    }
    subject_reopen(subject);
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    close(watch);
    subject_free(subject);
}

/* ---- many in one fold: its rows are drafted by another thread ---- */

enum { MANY = 4500, LARGE_EVERY = 700, LARGE = 6000, TEXT = 32, IN_LINE = 1500, FEW_PAGES = 16 };

/* In commits of `part` each. */
static void put_many(struct subject *subject, size_t part) {
    static char ids[MANY][TEXT], letters[MANY][TEXT], large[LARGE];
    struct envelope *envelopes = calloc(MANY, sizeof *envelopes);
    struct store_op *ops = calloc(MANY, sizeof *ops);
    memset(large, 's', sizeof large);
    for (size_t i = 0; i < MANY; i++) {
        name_message(&envelopes[i], ids[i], letters[i], i);
        envelopes[i].failed = i % LARGE_EVERY == 0;
        if (envelopes[i].failed)
            envelopes[i].stack_trace = (struct bytes){large, sizeof large};
        ops[i] = (struct store_op){.kind = STORE_PUT,
                                   .queue = subject->queue,
                                   .envelope = &envelopes[i],
                                   .body = bytes_of(ids[i])};
    }
    for (size_t i = 0; i < MANY; i += part)
        assert_int_equal(subject_commit(subject, ops + i, part), STATUS_OK);
    free(ops);
    free(envelopes);
}

static void await_fold(struct subject *subject) {
    struct letters_page page;
    do {
        struct arena arena;
        struct err err;
        arena_init_heap(&arena, 4096);
        struct letters_query query = {.limit = 1};
        assert_int_equal(letters_list(subject->store->letters, &query, &arena, &page, &err),
                         STATUS_OK);
        arena_free(&arena);
    } while (page.unlisted > 0);
}

static void assert_many(struct subject *subject) {
    struct store *store = subject->store;
    for (size_t i = 0; i < MANY; i++) {
        char id[TEXT];
        struct message *held = NULL;
        struct err err;
        snprintf(id, sizeof id, "m%zu", i);
        assert_int_equal(letters_get(store->letters, BYTES("orders"), bytes_of(id), &held, &err),
                         STATUS_OK);
        assert_bytes(held->body, id);
        assert_int_equal(held->envelope.stack_trace.len, i % LARGE_EVERY == 0 ? LARGE : 0);
        message_free(held);
    }
}

static void many_in_one_fold_are_all_in_the_file(void **state) {
    struct subject *subject = subject_new(*state);
    put_many(subject, MANY);
    await_fold(subject);
    assert_many(subject);
    subject_reopen(subject);
    assert_many(subject);
    subject_free(subject);
}

/* Somebody wrote a row of that number into the file: SQLite refuses ours, in the middle. */
static void get_in_the_way(const struct subject *subject, size_t number) {
    char path[96], sql[512];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/impound.db", subject->dir);
    snprintf(sql, sizeof sql,
             "INSERT INTO messages (seq, queue, id, state, attempts, created_ms, dead_ms, due_ms,"
             " escalated_ms, envelope) VALUES (%zu, %u, 'm%zu', 'queued', 0, 0, 0, 0, 0, '')",
             number + 1, subject->queue, number);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_fold_that_fails_in_the_middle_is_made_again(void **state) {
    struct subject *subject = subject_new(*state);
    get_in_the_way(subject, MANY / 2);
    put_many(subject, MANY);
    await_fold(subject);
    assert_many(subject);
    subject_reopen(subject);
    assert_many(subject);
    subject_free(subject);
}

/* ---- more than one fold ---- */

static void open_in_line(struct subject *subject) {
    char path[96];
    snprintf(path, sizeof path, "%s/impound.db", subject->dir);
    struct sqlite_store_options options = {.path = path,
                                           .disk = &disk_posix,
                                           .clock = &subject->time.clock,
                                           .threads = true,
                                           .fold_changes = IN_LINE,
                                           .wal_pages = FEW_PAGES};
    struct err err;
    assert_int_equal(sqlite_store_open(&options, &subject->store, &err), STATUS_OK);
}

static const struct subject_kind in_line = {"sqlite, folds in line", open_in_line, NULL, true};

static void folds_that_stand_in_line_are_all_written(void **state) {
    struct subject *subject = subject_new(*state);
    put_many(subject, IN_LINE);
    await_fold(subject);
    assert_many(subject);
    subject_reopen(subject);
    assert_many(subject);
    subject_free(subject);
}

static void one_of_them_that_fails_is_made_again_before_the_next(void **state) {
    struct subject *subject = subject_new(*state);
    get_in_the_way(subject, MANY / 2);
    put_many(subject, IN_LINE);
    await_fold(subject);
    assert_many(subject);
    subject_free(subject);
}

static void what_stands_in_line_is_written_when_it_closes(void **state) {
    struct subject *subject = subject_new(*state);
    put_many(subject, IN_LINE);
    subject_reopen(subject);
    assert_many(subject);
    subject_free(subject);
}

int main(void) {
    log_set_level(LOG_ERROR);
    void *threaded = (void *)(uintptr_t)&subject_threaded;
    void *waiting = (void *)(uintptr_t)&in_line;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_id_is_put_once_and_taken_once, threaded),
        cmocka_unit_test_prestate(so_it_is_when_everybody_waits, threaded),
        cmocka_unit_test_prestate(who_waits_alone_is_answered_on_its_own_thread, threaded),
        cmocka_unit_test_prestate(closing_waits_for_who_writes, threaded),
        cmocka_unit_test_prestate(a_store_is_open_in_one_process_at_a_time, threaded),
        cmocka_unit_test_prestate(who_comes_after_a_killed_one_waits_for_its_last_child, threaded),
        cmocka_unit_test_prestate(many_in_one_fold_are_all_in_the_file, threaded),
        cmocka_unit_test_prestate(a_fold_that_fails_in_the_middle_is_made_again, threaded),
        cmocka_unit_test_prestate(folds_that_stand_in_line_are_all_written, waiting),
        cmocka_unit_test_prestate(one_of_them_that_fails_is_made_again_before_the_next, waiting),
        cmocka_unit_test_prestate(what_stands_in_line_is_written_when_it_closes, waiting),
    };
    return cmocka_run_group_tests_name("store threads", tests, NULL, NULL);
}
