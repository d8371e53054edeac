/* Many messages that wait, held against every store: of those that keep little in memory nothing
 * else is to be seen than of the others. */
#include <stdio.h>

#include "store/embedded/store_internal.h"
#include "store_subject.h"
#include "test.h"

enum { MANY = 120, FEW = 12, STEP_MS = 1000, FAR_MS = 3600 * 1000, IN_MEMORY_MAX = 24 };

static struct subject *begin(void **state) {
    return subject_new(*state);
}

static const char *name(struct subject *subject, size_t number) {
    char text[16];
    snprintf(text, sizeof text, "m%03zu", number);
    return arena_dup(&subject->arena, (struct bytes){text, strlen(text) + 1}).ptr;
}

/* Everything is in the file afterwards. */
static void fold(struct subject *subject) {
    subject_list(subject, &(struct letters_query){.limit = 1});
}

static uint64_t put(struct subject *subject, size_t number, enum state state, int64_t delay_ms) {
    struct envelope envelope = subject_envelope(subject, name(subject, number));
    uint64_t seq = 0;
    envelope.state = state;
    envelope.delay_ms = delay_ms;
    if (delay_ms > 0)
        envelope.next_attempt_at.ms = subject_now(subject).wall.ms + delay_ms;
    assert_int_equal(subject_put(subject, &envelope, "1", &seq), STATUS_OK);
    return seq;
}

static void put_many(struct subject *subject, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        put(subject, i, STATE_QUEUED, 0);
    fold(subject);
}

static void assert_next(struct subject *subject, enum store_take which, size_t number) {
    struct message *held = subject_take(subject, which);
    assert_non_null(held);
    assert_bytes(held->envelope.id, name(subject, number));
    message_free(held);
}

static void assert_counts(struct subject *subject, uint64_t queued, uint64_t delayed,
                          uint64_t retry, uint64_t taken) {
    struct store_queue_counts counts;
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    assert_int_equal(counts.queued, queued);
    assert_int_equal(counts.delayed, delayed);
    assert_int_equal(counts.pending_retry, retry);
    assert_int_equal(counts.taken, taken);
}

static void assert_little_memory(struct subject *subject) {
    if (subject->kind == &subject_tight)
        assert_true(store_internal_of(subject->store)->front.tables.by_seq.count <= IN_MEMORY_MAX);
}

static void a_deep_backlog_is_taken_oldest_first(void **state) {
    struct subject *subject = begin(state);
    put_many(subject, 0, MANY);
    assert_little_memory(subject);
    assert_counts(subject, MANY, 0, 0, 0);
    for (size_t i = 0; i < MANY; i++)
        assert_next(subject, TAKE_READY, i);
    assert_null(subject_take(subject, TAKE_READY));
    assert_counts(subject, 0, 0, 0, MANY);
    subject_free(subject);
}

static void a_backlog_grows_at_its_end_while_it_is_taken(void **state) {
    struct subject *subject = begin(state);
    size_t next = 0;
    for (size_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < MANY / 4; i++)
            put(subject, round * MANY / 4 + i, STATE_QUEUED, 0);
        if (round % 2 == 0)
            fold(subject);
        for (size_t i = 0; i < MANY / 8; i++)
            assert_next(subject, TAKE_READY, next++);
    }
    while (next < MANY)
        assert_next(subject, TAKE_READY, next++);
    assert_counts(subject, 0, 0, 0, MANY);
    subject_free(subject);
}

/* 0, 49, 98, 27, …: every number below MANY once. */
static size_t shuffled(size_t i) {
    return i * 49 % MANY;
}

static void put_shuffled(struct subject *subject, enum state state) {
    for (size_t i = 0; i < MANY; i++)
        put(subject, shuffled(i), state, FAR_MS + (int64_t)shuffled(i) * STEP_MS);
    fold(subject);
    assert_little_memory(subject);
}

static void assert_in_time(struct subject *subject, enum store_take which) {
    subject_pass(subject, FAR_MS - 1);
    for (size_t i = 0; i < MANY; i++) {
        assert_null(subject_take(subject, which));
        struct mono next =
            subject->store->vtable->next_ready(subject->store, subject->queue, which);
        assert_true(next.ms <= subject_now(subject).mono.ms + 1);
        subject_pass(subject, 1);
        assert_next(subject, which, i);
        subject_pass(subject, STEP_MS - 1);
    }
    assert_null(subject_take(subject, which));
    assert_int_equal(subject->store->vtable->next_ready(subject->store, subject->queue, which).ms,
                     MONO_NEVER.ms);
}

static void what_is_far_from_ready_comes_in_its_time(void **state) {
    struct subject *subject = begin(state);
    put_shuffled(subject, STATE_QUEUED);
    assert_counts(subject, MANY, MANY, 0, 0);
    assert_in_time(subject, TAKE_READY);
    subject_free(subject);
}

static void what_is_far_from_due_comes_in_its_time(void **state) {
    struct subject *subject = begin(state);
    put_shuffled(subject, STATE_PENDING_RETRY);
    assert_counts(subject, 0, 0, MANY, 0);
    assert_in_time(subject, TAKE_DUE);
    subject_free(subject);
}

static void what_is_far_from_its_turn_can_be_changed(void **state) {
    struct subject *subject = begin(state);
    put_many(subject, 0, MANY - 3);
    uint64_t taken = put(subject, MANY - 3, STATE_QUEUED, 0);
    uint64_t dead = put(subject, MANY - 2, STATE_QUEUED, 0);
    uint64_t forgotten = put(subject, MANY - 1, STATE_QUEUED, 0);
    fold(subject);
    struct message *held = subject->store->vtable->take_one(subject->store, subject->queue, taken);
    assert_non_null(held);
    struct envelope letter = subject_letter(subject, name(subject, MANY - 2));
    assert_int_equal(subject_update(subject, dead, &letter), STATUS_OK);
    assert_int_equal(subject_forget(subject, forgotten), STATUS_OK);
    assert_counts(subject, MANY - 3, 0, 0, 1);
    for (size_t i = 0; i < MANY - 3; i++)
        assert_next(subject, TAKE_READY, i);
    assert_null(subject_take(subject, TAKE_READY));
    subject->store->vtable->give_back(subject->store, held, subject_now(subject).mono);
    assert_next(subject, TAKE_READY, MANY - 3);
    subject_free(subject);
}

/* What was given back fills the lane and cannot be parked. */
static void what_is_due_is_taken_past_what_was_given_back(void **state) {
    struct subject *subject = begin(state);
    for (size_t i = 0; i < FEW; i++) {
        put(subject, i, STATE_PENDING_RETRY, 1);
        subject_pass(subject, 1);
        struct message *held = subject_take(subject, TAKE_DUE);
        assert_non_null(held);
        subject->store->vtable->give_back(subject->store, held,
                                          mono_after(subject_now(subject).mono, FAR_MS));
    }
    put(subject, FEW, STATE_PENDING_RETRY, 1);
    fold(subject);
    subject_pass(subject, 1);
    assert_next(subject, TAKE_DUE, FEW);
    assert_null(subject_take(subject, TAKE_DUE));
    assert_true(subject->store->vtable->next_ready(subject->store, subject->queue, TAKE_DUE).ms >
                subject_now(subject).mono.ms);
    subject_free(subject);
}

/* What a jump of the wall clock put behind the others in the file is due before them. */
static void what_is_due_is_taken_although_the_clock_jumped(void **state) {
    struct subject *subject = begin(state);
    for (size_t i = 0; i < FEW; i++)
        put(subject, i, STATE_PENDING_RETRY, 10 * STEP_MS);
    subject_jump(subject, FAR_MS);
    for (size_t i = 0; i < FEW; i++)
        put(subject, FEW + i, STATE_PENDING_RETRY, STEP_MS);
    fold(subject);
    subject_pass(subject, STEP_MS);
    size_t due = 0;
    struct message *held;
    while ((held = subject_take(subject, TAKE_DUE)) != NULL) {
        due += held->envelope.delay_ms == STEP_MS;
        message_free(held);
    }
    assert_int_equal(due, FEW);
    subject_free(subject);
}

static void a_producer_that_pushes_twice_finds_its_message_in_the_backlog(void **state) {
    struct subject *subject = begin(state);
    put_many(subject, 0, MANY);
    struct envelope envelope = subject_envelope(subject, name(subject, MANY - 1));
    struct store_op op = {.kind = STORE_PUT,
                          .queue = subject->queue,
                          .envelope = &envelope,
                          .body = BYTES("1"),
                          .check_id = true};
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    assert_true(op.duplicate);
    assert_counts(subject, MANY, 0, 0, 0);
    subject_free(subject);
}

static void a_deep_backlog_survives_closing(void **state) {
    struct subject *subject = begin(state);
    if (subject->kind->durable) {
        put_many(subject, 0, MANY);
        put(subject, MANY, STATE_QUEUED, FAR_MS);
        put(subject, MANY + 1, STATE_PENDING_RETRY, FAR_MS);
        struct message *held = subject_take(subject, TAKE_READY);
        held->envelope.state = STATE_QUEUED;
        held->envelope.lease_ms = FAR_MS;
        assert_int_equal(subject_update(subject, held->seq, &held->envelope), STATUS_OK);
        message_free(held);
        subject_reopen(subject);
        assert_little_memory(subject);
        assert_counts(subject, MANY, 1, 1, 1);
        assert_next(subject, TAKE_LEASED, 0);
        for (size_t i = 1; i < MANY; i++)
            assert_next(subject, TAKE_READY, i);
        subject_pass(subject, FAR_MS);
        assert_next(subject, TAKE_READY, MANY);
        assert_next(subject, TAKE_DUE, MANY + 1);
    }
    subject_free(subject);
}

static void an_order_covers_what_was_in_the_file_alone(void **state) {
    struct subject *subject = begin(state);
    for (size_t i = 0; i < MANY; i++) {
        struct envelope envelope = subject_envelope(subject, name(subject, i));
        envelope.key = i % 2 ? BYTES("odd") : BYTES("even");
        subject_put(subject, &envelope, "1", NULL);
    }
    fold(subject);
    if (subject->kind->durable)
        subject_reopen(subject);
    subject->store->vtable->set_order(subject->store, subject->queue, ORDER_KEY);
    assert_counts(subject, MANY, 0, 0, 0);
    assert_next(subject, TAKE_READY, 0);
    assert_next(subject, TAKE_READY, 1);
    assert_null(subject_take(subject, TAKE_READY));
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(a_deep_backlog_is_taken_oldest_first)                                                        \
    X(a_backlog_grows_at_its_end_while_it_is_taken)                                                \
    X(what_is_far_from_ready_comes_in_its_time)                                                    \
    X(what_is_far_from_due_comes_in_its_time)                                                      \
    X(what_is_far_from_its_turn_can_be_changed)                                                    \
    X(what_is_due_is_taken_past_what_was_given_back)                                               \
    X(what_is_due_is_taken_although_the_clock_jumped)                                              \
    X(a_producer_that_pushes_twice_finds_its_message_in_the_backlog)                               \
    X(a_deep_backlog_survives_closing)                                                             \
    X(an_order_covers_what_was_in_the_file_alone)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
