/* Messages that were judged dead and wait for room in their DLQ, held against every store. */
#include "store_subject.h"

#include "test.h"

/* It is judged dead, and its DLQ is full. */
static struct envelope judged(struct subject *subject, const char *id, const char *dlq) {
    struct envelope envelope = subject_letter(subject, id);
    envelope.state = STATE_PENDING_RETRY;
    envelope.letter_id = BYTES_NONE;
    envelope.dlq = bytes_of(dlq);
    envelope.dead_at = envelope.next_attempt_at = WALL_NEVER;
    envelope.why = BYTES("dlq is full");
    return envelope;
}

static uint64_t put(struct subject *subject, const char *id) {
    struct envelope envelope = subject_envelope(subject, id);
    uint64_t seq = 0;
    assert_int_equal(subject_put(subject, &envelope, "1", &seq), STATUS_OK);
    return seq;
}

static uint64_t put_judged(struct subject *subject, const char *id, const char *dlq) {
    uint64_t seq = put(subject, id);
    struct envelope envelope = judged(subject, id, dlq);
    assert_int_equal(subject_update(subject, seq, &envelope), STATUS_OK);
    return seq;
}

static size_t take(struct subject *subject, const char *dlq, struct message **out, size_t max) {
    return subject->store->vtable->take_for_room(subject->store, subject->queue, bytes_of(dlq), out,
                                                 max);
}

static uint64_t awaiting(struct subject *subject) {
    struct store_queue_counts counts;
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    return counts.awaiting_room;
}

static void only_take_for_room_gives_them_by_dlq_and_in_order(void **state) {
    struct subject *subject = subject_new(*state);
    put_judged(subject, "a", "one.dlq");
    put_judged(subject, "b", "two.dlq");
    put_judged(subject, "c", "one.dlq");
    assert_null(subject_take(subject, TAKE_DUE));
    assert_null(subject_take(subject, TAKE_DUE_LONGEST));
    assert_null(subject_take(subject, TAKE_READY));
    assert_int_equal(
        subject->store->vtable->next_ready(subject->store, subject->queue, TAKE_DUE).ms,
        MONO_NEVER.ms);
    assert_int_equal(awaiting(subject), 3);
    struct message *held[4];
    assert_int_equal(take(subject, "none.dlq", held, 4), 0);
    assert_int_equal(take(subject, "one.dlq", held, 4), 2);
    assert_bytes(held[0]->envelope.id, "a");
    assert_bytes(held[1]->envelope.id, "c");
    assert_int_equal(held[0]->envelope.cause, CAUSE_TERMINAL);
    assert_int_equal(awaiting(subject), 1);
    for (size_t i = 0; i < 2; i++)
        subject->store->vtable->give_back(subject->store, held[i], subject_now(subject).mono);
    assert_int_equal(awaiting(subject), 3);
    assert_null(subject_take(subject, TAKE_DUE));
    subject_free(subject);
}

static void they_are_listed_by_dlq(void **state) {
    struct subject *subject = subject_new(*state);
    put_judged(subject, "a", "one.dlq");
    put_judged(subject, "b", "two.dlq");
    put_judged(subject, "c", "one.dlq");
    struct store_count *rooms;
    size_t count = subject->store->vtable->awaiting_room(subject->store, subject->queue,
                                                         &subject->arena, &rooms);
    assert_int_equal(count, 2);
    uint64_t one = 0, two = 0;
    for (size_t i = 0; i < count; i++)
        *(bytes_is(rooms[i].name, "one.dlq") ? &one : &two) = rooms[i].count;
    assert_int_equal(one, 2);
    assert_int_equal(two, 1);
    subject_free(subject);
}

static void they_count_in_no_depth_until_they_are_letters(void **state) {
    struct subject *subject = subject_new(*state);
    uint64_t seq = put_judged(subject, "a", "one.dlq");
    assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("one.dlq")), 0);
    struct message *held[1];
    assert_int_equal(take(subject, "one.dlq", held, 1), 1);
    message_free(held[0]);
    struct envelope letter = subject_letter(subject, "a");
    letter.dlq = BYTES("one.dlq");
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
    assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("one.dlq")), 1);
    assert_int_equal(awaiting(subject), 0);
    subject_free(subject);
}

static void they_wait_again_after_the_store_was_opened_anew(void **state) {
    struct subject *subject = subject_new(*state);
    put_judged(subject, "a", "one.dlq");
    put_judged(subject, "b", "one.dlq");
    put(subject, "c");
    if (subject->kind->durable)
        subject_reopen(subject);
    if (subject->kind->durable)
        subject_reopen(subject); /* from the file this time */
    assert_int_equal(awaiting(subject), 2);
    assert_null(subject_take(subject, TAKE_DUE));
    struct message *held[4];
    assert_int_equal(take(subject, "one.dlq", held, 4), 2);
    assert_bytes(held[0]->envelope.id, "a");
    assert_bytes(held[0]->envelope.dlq, "one.dlq");
    assert_bytes(held[0]->envelope.why, "dlq is full");
    assert_int_equal(held[0]->envelope.cause, CAUSE_TERMINAL);
    message_free(held[0]);
    message_free(held[1]);
    subject_free(subject);
}

static void one_can_be_taken_only_to_decide_about_it(void **state) {
    struct subject *subject = subject_new(*state);
    uint64_t seq = put_judged(subject, "a", "one.dlq");
    struct store *store = subject->store;
    assert_null(store->vtable->take_one(store, subject->queue, seq)); /* it was judged */
    struct message *held = store->vtable->take_any(store, subject->queue, seq);
    assert_non_null(held);
    subject_forget(subject, seq);
    message_free(held);
    assert_int_equal(awaiting(subject), 0);
    subject_free(subject);
}

static void an_ordered_one_closes_its_key_until_it_is_decided(void **state) {
    struct subject *subject = subject_new(*state);
    const struct store_vtable *vtable = subject->store->vtable;
    vtable->set_order(subject->store, subject->queue, ORDER_KEY);
    struct envelope first = subject_envelope(subject, "a1");
    struct envelope second = subject_envelope(subject, "a2");
    first.key = second.key = BYTES("a");
    uint64_t seq = 0, other = 0;
    subject_put(subject, &first, "1", &seq);
    subject_put(subject, &second, "1", &other);
    struct envelope head = judged(subject, "a1", "one.dlq");
    head.key = BYTES("a");
    head.closes_key = true;
    assert_int_equal(subject_update(subject, seq, &head), STATUS_OK);
    if (subject->kind->durable) {
        subject_reopen(subject);
        vtable = subject->store->vtable;
        vtable->set_order(subject->store, subject->queue, ORDER_KEY);
    }
    assert_null(subject_take(subject, TAKE_READY));
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(subject->store->letters, BYTES_NONE, BYTES("a2"), &held, &err),
                     STATUS_OK);
    assert_bytes(held->envelope.blocked_by, "a1");
    message_free(held);
    struct message *taken[2];
    assert_int_equal(take(subject, "one.dlq", taken, 2), 1);
    assert_null(subject_take(subject, TAKE_READY));
    vtable->give_back(subject->store, taken[0], subject_now(subject).mono);
    assert_null(subject_take(subject, TAKE_READY));
    subject_forget(subject, seq);
    struct message *next = subject_take(subject, TAKE_READY);
    assert_non_null(next);
    assert_bytes(next->envelope.id, "a2");
    message_free(next);
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(only_take_for_room_gives_them_by_dlq_and_in_order)                                           \
    X(they_are_listed_by_dlq)                                                                      \
    X(they_count_in_no_depth_until_they_are_letters)                                               \
    X(they_wait_again_after_the_store_was_opened_anew)                                             \
    X(one_can_be_taken_only_to_decide_about_it)                                                    \
    X(an_ordered_one_closes_its_key_until_it_is_decided)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
