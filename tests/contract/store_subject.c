#include "store_subject.h"

#include <stdio.h>

#include "base/tempdir.h"
#include "store/disk_posix.h"
#include "store/fake_store.h"
#include "store/embedded/sqlite_store.h"

/* ---- kinds ---- */

static void open_fake(struct subject *subject) {
    subject->store = fake_store_new(false);
}

static void step_fake(struct subject *subject) {
    fake_store_step(subject->store);
}

static void open_sqlite(struct subject *subject, bool threads, size_t waiting_max) {
    char path[96];
    snprintf(path, sizeof path, "%s/impound.db", subject->dir);
    struct sqlite_store_options options = {.path = path,
                                           .disk = &disk_posix,
                                           .clock = &subject->time.clock,
                                           .threads = threads,
                                           .waiting_max = waiting_max};
    struct err err = {0};
    if (sqlite_store_open(&options, &subject->store, &err) != STATUS_OK)
        fail_msg("the store does not open: %s", err.text);
}

static void open_stepped(struct subject *subject) {
    open_sqlite(subject, false, 0);
}

static void open_tight(struct subject *subject) {
    open_sqlite(subject, false, 1);
}

static void open_threaded(struct subject *subject) {
    open_sqlite(subject, true, 0);
}

static void step_stepped(struct subject *subject) {
    sqlite_store_step(subject->store);
}

const struct subject_kind subject_fake = {"fake", open_fake, step_fake, false};
const struct subject_kind subject_stepped = {"sqlite, stepped", open_stepped, step_stepped, true};
const struct subject_kind subject_tight = {"sqlite, tight", open_tight, step_stepped, true};
const struct subject_kind subject_threaded = {"sqlite, threads", open_threaded, NULL, true};

int subject_run(const struct CMUnitTest *tests, size_t count) {
    static const struct subject_kind *const kinds[] = {&subject_fake, &subject_stepped,
                                                       &subject_tight, &subject_threaded};
    struct CMUnitTest *mine = calloc(count, sizeof *mine);
    int failed = 0;
    assert_non_null(mine);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t i = 0; i < count; i++) {
            mine[i] = tests[i];
            mine[i].initial_state = (void *)(uintptr_t)kinds[k];
        }
        failed += _cmocka_run_group_tests(kinds[k]->name, mine, count, NULL, NULL);
    }
    free(mine);
    return failed;
}

/* ---- life ---- */

static struct instant read_clock(struct clock *clock) {
    struct subject_clock *time = (struct subject_clock *)(void *)clock;
    pthread_mutex_lock(&time->mutex);
    struct instant now = time->now;
    pthread_mutex_unlock(&time->mutex);
    return now;
}

struct subject *subject_new(const struct subject_kind *kind) {
    struct subject *subject = calloc(1, sizeof *subject);
    assert_non_null(subject);
    subject->kind = kind;
    subject->time.clock.now = read_clock;
    pthread_mutex_init(&subject->time.mutex, NULL);
    subject->time.now = (struct instant){{1700000000000}, {1000}};
    arena_init_heap(&subject->arena, 4096);
    assert_int_equal(tempdir_make("/tmp", "impound-store", subject->dir, sizeof subject->dir, NULL),
                     STATUS_OK);
    kind->open(subject);
    subject->queue = subject->store->vtable->queue_number(subject->store, BYTES("orders"));
    return subject;
}

void subject_free(struct subject *subject) {
    subject->store->vtable->close(subject->store);
    tempdir_remove(subject->dir);
    arena_free(&subject->arena);
    free(subject);
}

void subject_reopen(struct subject *subject) {
    subject->store->vtable->close(subject->store);
    subject->kind->open(subject);
    subject->queue = subject->store->vtable->queue_number(subject->store, BYTES("orders"));
}

struct instant subject_now(struct subject *subject) {
    return subject->time.now;
}

void subject_pass(struct subject *subject, int64_t ms) {
    pthread_mutex_lock(&subject->time.mutex);
    subject->time.now.wall.ms += ms;
    subject->time.now.mono.ms += ms;
    pthread_mutex_unlock(&subject->time.mutex);
}

void subject_jump(struct subject *subject, int64_t ms) {
    pthread_mutex_lock(&subject->time.mutex);
    subject->time.now.wall.ms += ms;
    pthread_mutex_unlock(&subject->time.mutex);
}

/* ---- messages ---- */

static struct bytes text(struct subject *subject, const char *prefix, const char *id) {
    char joined[300];
    snprintf(joined, sizeof joined, "%s%s", prefix, id);
    return arena_dup(&subject->arena, bytes_of(joined));
}

struct envelope subject_envelope(struct subject *subject, const char *id) {
    struct envelope envelope = {
        .state = STATE_QUEUED,
        .id = text(subject, "", id),
        .queue = BYTES("orders"),
        .content_type = BYTES("application/json"),
        .source = BYTES("{\"kind\":\"builtin\"}"),
        .retry_after_ms = -1,
        .created_at = subject->time.now.wall,
    };
    memset(envelope.content_hash, 'a', 64);
    return envelope;
}

struct envelope subject_letter(struct subject *subject, const char *id) {
    struct envelope envelope = subject_envelope(subject, id);
    envelope.letter_id = text(subject, "L-", id);
    envelope.dlq = BYTES("orders.dlq");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.cause = CAUSE_TERMINAL;
    envelope.category = BYTES("bug");
    envelope.reason = BYTES("missing_key");
    envelope.failed = true;
    envelope.kind = KIND_EXIT;
    envelope.error_type = BYTES("KeyError");
    envelope.error_message = BYTES("no such key: price");
    envelope.attempts = 1;
    envelope.dead_at = subject->time.now.wall;
    return envelope;
}

/* ---- verbs ---- */

struct answer {
    pthread_mutex_t mutex;
    pthread_cond_t given;
    bool done;
    enum status status;
};

static void answered(struct store_commit *commit, enum status status) {
    struct answer *answer = commit->arg;
    pthread_mutex_lock(&answer->mutex);
    assert_false(answer->done);
    answer->done = true;
    answer->status = status;
    pthread_cond_signal(&answer->given);
    pthread_mutex_unlock(&answer->mutex);
}

enum status subject_commit(struct subject *subject, struct store_op *ops, size_t count) {
    struct answer answer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, STATUS_OK};
    struct store_commit commit = {.ops = ops,
                                  .count = count,
                                  .done = answered,
                                  .arg = &answer,
                                  .caller_waits = subject->waits};
    subject->store->vtable->submit(subject->store, &commit);
    if (subject->kind->step)
        subject->kind->step(subject);
    pthread_mutex_lock(&answer.mutex);
    while (!answer.done)
        pthread_cond_wait(&answer.given, &answer.mutex);
    pthread_mutex_unlock(&answer.mutex);
    return answer.status;
}

enum status subject_put(struct subject *subject, const struct envelope *envelope, const char *body,
                        uint64_t *seq) {
    struct store_op op = {
        .kind = STORE_PUT, .queue = subject->queue, .envelope = envelope, .body = bytes_of(body)};
    enum status status = subject_commit(subject, &op, 1);
    if (seq)
        *seq = op.seq;
    return status;
}

enum status subject_update(struct subject *subject, uint64_t seq, const struct envelope *envelope) {
    struct store_op op = {
        .kind = STORE_UPDATE, .queue = subject->queue, .seq = seq, .envelope = envelope};
    return subject_commit(subject, &op, 1);
}

enum status subject_forget(struct subject *subject, uint64_t seq) {
    struct store_op op = {.kind = STORE_FORGET, .queue = subject->queue, .seq = seq};
    return subject_commit(subject, &op, 1);
}

struct message *subject_take(struct subject *subject, enum store_take which) {
    struct message *held = NULL;
    size_t count = subject->store->vtable->take(subject->store, subject->queue, which,
                                                subject->time.now, &held, 1);
    assert_true(count <= 1);
    return count ? held : NULL;
}

const char *subject_list(struct subject *subject, const struct letters_query *query) {
    struct letters_page page;
    struct err err;
    assert_int_equal(letters_list(subject->store->letters, query, &subject->arena, &page, &err),
                     STATUS_OK);
    struct buf ids;
    buf_init_heap(&ids, 1 << 20);
    for (size_t i = 0; i < page.count; i++) {
        struct envelope envelope;
        assert_int_equal(envelope_restore(page.rows[i].envelope, &subject->arena, &envelope, &err),
                         STATUS_OK);
        buf_printf(&ids, "%s%.*s", i ? " " : "", BYTES_ARG(envelope.id));
    }
    const char *copy = arena_cstr(&subject->arena, buf_view(&ids));
    buf_free(&ids);
    return copy;
}
