/* The promises of port/store.h, held against every store. */
#include "store_subject.h"

#include "test.h"

static struct subject *begin(void **state) {
    return subject_new(*state);
}

static struct message *get(struct subject *subject, const char *id) {
    struct message *held = NULL;
    struct err err;
    enum status status =
        letters_get(subject->store->letters, BYTES_NONE, bytes_of(id), &held, &err);
    return status == STATUS_OK ? held : NULL;
}

static void assert_taken(struct message *held, const char *id) {
    assert_non_null(held);
    assert_bytes(held->envelope.id, id);
    message_free(held);
}

static void assert_state(struct subject *subject, const char *id, enum state state) {
    struct message *held = get(subject, id);
    assert_non_null(held);
    assert_int_equal(held->envelope.state, state);
    message_free(held);
}

static void assert_gone(struct subject *subject, const char *id) {
    assert_null(get(subject, id));
}

/* ---- put, take, update, forget ---- */

static void what_was_put_is_taken_with_its_body(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    assert_int_equal(subject_put(subject, &envelope, "{\"n\":1.0}", &seq), STATUS_OK);
    struct message *held = subject_take(subject, TAKE_READY);
    assert_non_null(held);
    assert_int_equal(held->seq, seq);
    assert_bytes(held->body, "{\"n\":1.0}");
    assert_bytes(held->envelope.id, "a");
    message_free(held);
    subject_free(subject);
}

static void what_is_taken_is_not_taken_twice(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    subject_put(subject, &envelope, "1", NULL);
    assert_taken(subject_take(subject, TAKE_READY), "a");
    assert_null(subject_take(subject, TAKE_READY));
    subject_free(subject);
}

static void ready_messages_come_oldest_first(void **state) {
    struct subject *subject = begin(state);
    const char *ids[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        struct envelope envelope = subject_envelope(subject, ids[i]);
        subject_put(subject, &envelope, "1", NULL);
    }
    for (size_t i = 0; i < 3; i++)
        assert_taken(subject_take(subject, TAKE_READY), ids[i]);
    subject_free(subject);
}

static void a_taken_message_is_shown_as_running(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    subject_put(subject, &envelope, "1", NULL);
    assert_state(subject, "a", STATE_QUEUED);
    message_free(subject_take(subject, TAKE_READY));
    assert_state(subject, "a", STATE_RUNNING);
    subject_free(subject);
}

static void a_forgotten_message_is_gone(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    subject_put(subject, &envelope, "1", &seq);
    message_free(subject_take(subject, TAKE_READY));
    assert_int_equal(subject_forget(subject, seq), STATUS_OK);
    assert_gone(subject, "a");
    assert_int_equal(subject_forget(subject, seq), STATUS_NOT_FOUND);
    subject_free(subject);
}

static void an_update_without_a_body_keeps_the_body(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    subject_put(subject, &envelope, "the body", &seq);
    envelope = subject_letter(subject, "a");
    assert_int_equal(subject_update(subject, seq, &envelope), STATUS_OK);
    struct message *held = get(subject, "L-a");
    assert_non_null(held);
    assert_bytes(held->body, "the body");
    assert_int_equal(held->envelope.state, STATE_PENDING_REVIEW);
    message_free(held);
    subject_free(subject);
}

static void an_update_with_a_body_replaces_it(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    subject_put(subject, &envelope, "old", &seq);
    struct store_op op = {.kind = STORE_UPDATE,
                          .queue = subject->queue,
                          .seq = seq,
                          .envelope = &envelope,
                          .body = BYTES("new")};
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    struct message *held = subject_take(subject, TAKE_READY);
    assert_bytes(held->body, "new");
    message_free(held);
    subject_free(subject);
}

static void a_state_that_cannot_follow_is_refused(void **state) {
    struct subject *subject = begin(state);
    struct envelope letter = subject_letter(subject, "a");
    letter.state = STATE_DISCARDED;
    uint64_t seq = 0;
    subject_put(subject, &letter, "1", &seq);
    letter.state = STATE_PENDING_REVIEW;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_CONFLICT);
    assert_state(subject, "a", STATE_DISCARDED);
    subject_free(subject);
}

/* ---- ids ---- */

static enum status push(struct subject *subject, const char *id, char hash, bool *duplicate) {
    struct envelope envelope = subject_envelope(subject, id);
    memset(envelope.content_hash, hash, 64);
    struct store_op op = {.kind = STORE_PUT,
                          .queue = subject->queue,
                          .envelope = &envelope,
                          .body = BYTES("1"),
                          .check_id = true};
    enum status status = subject_commit(subject, &op, 1);
    *duplicate = op.duplicate;
    return status;
}

static void the_same_id_with_the_same_body_changes_nothing(void **state) {
    struct subject *subject = begin(state);
    bool duplicate = true;
    assert_int_equal(push(subject, "a", 'b', &duplicate), STATUS_OK);
    assert_false(duplicate);
    assert_int_equal(push(subject, "a", 'b', &duplicate), STATUS_OK);
    assert_true(duplicate);
    assert_taken(subject_take(subject, TAKE_READY), "a");
    assert_null(subject_take(subject, TAKE_READY));
    subject_free(subject);
}

static void the_same_id_with_another_body_refuses_the_whole_commit(void **state) {
    struct subject *subject = begin(state);
    bool duplicate = false;
    push(subject, "a", 'b', &duplicate);
    struct envelope first = subject_envelope(subject, "b"), second = subject_envelope(subject, "a");
    struct store_op ops[] = {
        {.kind = STORE_PUT,
         .queue = subject->queue,
         .envelope = &first,
         .body = BYTES("1"),
         .check_id = true},
        {.kind = STORE_PUT,
         .queue = subject->queue,
         .envelope = &second,
         .body = BYTES("2"),
         .check_id = true},
    };
    assert_int_equal(subject_commit(subject, ops, 2), STATUS_CONFLICT);
    assert_gone(subject, "b");
    assert_int_equal(push(subject, "b", 'b', &duplicate), STATUS_OK);
    assert_false(duplicate);
    subject_free(subject);
}

static void ids_clash_within_one_commit(void **state) {
    struct subject *subject = begin(state);
    struct envelope one = subject_envelope(subject, "a"), other = one;
    struct store_op ops[] = {
        {.kind = STORE_PUT, .queue = subject->queue, .envelope = &one, .check_id = true},
        {.kind = STORE_PUT, .queue = subject->queue, .envelope = &other, .check_id = true},
    };
    assert_int_equal(subject_commit(subject, ops, 2), STATUS_OK);
    assert_false(ops[0].duplicate);
    assert_true(ops[1].duplicate);
    memset(other.content_hash, 'd', 64);
    one = subject_envelope(subject, "b");
    other.id = one.id;
    assert_int_equal(subject_commit(subject, ops, 2), STATUS_CONFLICT);
    assert_gone(subject, "b");
    subject_free(subject);
}

static void an_id_is_held_in_any_state_and_free_when_forgotten(void **state) {
    struct subject *subject = begin(state);
    struct envelope letter = subject_letter(subject, "a");
    letter.state = STATE_RESOLVED;
    memset(letter.content_hash, 'b', 64);
    uint64_t seq = 0;
    subject_put(subject, &letter, "1", &seq);
    bool duplicate = false;
    assert_int_equal(push(subject, "a", 'b', &duplicate), STATUS_OK);
    assert_true(duplicate);
    assert_int_equal(push(subject, "a", 'c', &duplicate), STATUS_CONFLICT);
    subject_forget(subject, seq);
    assert_int_equal(push(subject, "a", 'c', &duplicate), STATUS_OK);
    assert_false(duplicate);
    subject_free(subject);
}

static enum status push_beside_decided(struct subject *subject, char hash, struct store_op *op) {
    struct envelope envelope = subject_envelope(subject, "a");
    memset(envelope.content_hash, hash, 64);
    *op = (struct store_op){.kind = STORE_PUT,
                            .queue = subject->queue,
                            .envelope = &envelope,
                            .body = BYTES("2"),
                            .check_id = true,
                            .decided_are_free = true};
    return subject_commit(subject, op, 1);
}

static void check_decided_id(struct subject *subject, enum state decided, bool folded) {
    struct envelope letter = subject_letter(subject, "a");
    letter.state = decided;
    memset(letter.content_hash, 'b', 64);
    uint64_t seq = 0;
    subject_put(subject, &letter, "1", &seq);
    if (folded)
        subject_list(subject, &(struct letters_query){.limit = 1}); /* waits for the fold */
    struct store_op op;
    assert_int_equal(push_beside_decided(subject, 'c', &op), STATUS_OK);
    assert_false(op.duplicate);
    uint64_t live = op.seq;
    assert_state(subject, "a", STATE_QUEUED);
    if (folded)
        subject_list(subject, &(struct letters_query){.limit = 1});
    assert_state(subject, "a", STATE_QUEUED);
    assert_int_equal(push_beside_decided(subject, 'c', &op), STATUS_OK);
    assert_true(op.duplicate);
    assert_int_equal(op.seq, live);
    assert_int_equal(push_beside_decided(subject, 'b', &op), STATUS_CONFLICT);
    subject_forget(subject, live);
    assert_state(subject, "a", decided);
    subject_forget(subject, seq);
    assert_gone(subject, "a");
}

static void an_id_that_only_a_decided_letter_has_is_free(void **state) {
    for (int folded = 0; folded < 2; folded++) {
        struct subject *subject = begin(state);
        check_decided_id(subject, STATE_RESOLVED, folded);
        check_decided_id(subject, STATE_DISCARDED, folded);
        subject_free(subject);
    }
}

static void an_id_is_held_after_the_file_alone_knows_it(void **state) {
    struct subject *subject = begin(state);
    struct envelope letter = subject_letter(subject, "a");
    memset(letter.content_hash, 'b', 64);
    uint64_t seq = 0;
    subject_put(subject, &letter, "1", &seq);
    subject_list(subject, &(struct letters_query){.limit = 1}); /* waits for the fold */
    bool duplicate = false;
    assert_int_equal(push(subject, "a", 'b', &duplicate), STATUS_OK);
    assert_true(duplicate);
    assert_int_equal(push(subject, "a", 'c', &duplicate), STATUS_CONFLICT);
    subject_forget(subject, seq);
    assert_gone(subject, "a");
    assert_int_equal(push(subject, "a", 'c', &duplicate), STATUS_OK);
    assert_false(duplicate);
    assert_string_equal(subject_list(subject, &(struct letters_query){.limit = 9}), "a");
    assert_state(subject, "a", STATE_QUEUED);
    subject_free(subject);
}

/* "f": only the file knows it, "m": memory does; "gone" was forgotten; "L-f" is a letter's id, not
 * a message's; nobody put "x". */
static void assert_holds(struct subject *subject, uint32_t queue, bool held) {
    const struct bytes ids[] = {BYTES("f"), BYTES("gone"), BYTES("m"), BYTES("L-f"), BYTES("x")};
    bool out[sizeof ids / sizeof *ids], expected[] = {held, false, held, false, false};
    struct err err = {STATUS_OK, ""};
    assert_int_equal(
        letters_holds(subject->store->letters, queue, ids, sizeof ids / sizeof *ids, out, &err),
        STATUS_OK);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_int_equal(out[i], expected[i]);
}

static void many_ids_are_asked_for_at_once(void **state) {
    struct subject *subject = begin(state);
    struct store *store = subject->store;
    uint64_t gone = 0;
    struct envelope letter = subject_letter(subject, "f");
    subject_put(subject, &letter, "1", NULL);
    letter = subject_letter(subject, "gone");
    subject_put(subject, &letter, "1", &gone);
    subject_list(subject, &(struct letters_query){.limit = 1}); /* waits for the fold */
    subject_forget(subject, gone);
    struct envelope envelope = subject_envelope(subject, "m");
    subject_put(subject, &envelope, "1", NULL);
    assert_holds(subject, subject->queue, true);
    assert_holds(subject, store->vtable->queue_number(store, BYTES("refunds")), false);
    subject_free(subject);
}

/* A store may look for all of them between the least and the greatest first. */
static void an_id_is_found_wherever_it_stands_among_those_asked_for(void **state) {
    static const struct {
        const char *ids[3];
        bool held[3];
    } cases[] = {
        {{"e5", "e5", "e5"}, {true, true, true}},
        {{"e5", "e6", "e7"}, {true, false, false}},
        {{"e7", "e5", "e6"}, {false, true, false}},
        {{"e3", "e4", "e5"}, {false, false, true}},
        {{"e6", "e4", "e9"}, {false}},
        {{"e1", "e3", "e4"}, {false}},
        {{"e51", "e6", "e9"}, {false}},
        {{"e", "e50", "E5"}, {false}},
    };
    struct subject *subject = begin(state);
    struct store *store = subject->store;
    struct envelope letter = subject_letter(subject, "e5");
    subject_put(subject, &letter, "1", NULL);
    subject_list(subject, &(struct letters_query){.limit = 1}); /* waits for the fold */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes ids[] = {bytes_of(cases[i].ids[0]), bytes_of(cases[i].ids[1]),
                              bytes_of(cases[i].ids[2])};
        bool out[3];
        assert_int_equal(letters_holds(store->letters, subject->queue, ids, 3, out, NULL),
                         STATUS_OK);
        assert_memory_equal(out, cases[i].held, sizeof out);
    }
    assert_int_equal(letters_holds(store->letters, subject->queue, NULL, 0, NULL, NULL), STATUS_OK);
    subject_free(subject);
}

static void an_id_in_several_queues_is_ambiguous(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    subject_put(subject, &envelope, "1", NULL);
    envelope.queue = BYTES("refunds");
    struct store_op op = {.kind = STORE_PUT, .envelope = &envelope, .body = BYTES("2")};
    op.queue = subject->store->vtable->queue_number(subject->store, BYTES("refunds"));
    subject_commit(subject, &op, 1);
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(subject->store->letters, BYTES_NONE, BYTES("a"), &held, &err),
                     STATUS_CONFLICT);
    assert_non_null(strstr(err.text, "orders"));
    assert_non_null(strstr(err.text, "refunds"));
    assert_int_equal(
        letters_get(subject->store->letters, BYTES("refunds"), BYTES("a"), &held, &err), STATUS_OK);
    assert_bytes(held->body, "2");
    message_free(held);
    subject_free(subject);
}

static void assert_queues(struct subject *subject, const char *second) {
    const char *const expected[] = {"orders", second, "refunds"};
    struct bytes *names = NULL;
    assert_int_equal(subject->store->vtable->queue_names(subject->store, &subject->arena, &names),
                     3);
    for (size_t i = 0; i < 3; i++)
        assert_bytes(names[i], expected[i]);
}

static void queues_are_told_by_their_numbers(void **state) {
    struct subject *subject = begin(state);
    const struct store_vtable *vtable = subject->store->vtable;
    struct envelope envelope = subject_envelope(subject, "a");
    subject_put(subject, &envelope, "1", NULL);
    assert_int_equal(vtable->queue_number(subject->store, BYTES("unused")), 2);
    envelope.queue = BYTES("refunds");
    struct store_op op = {.kind = STORE_PUT, .envelope = &envelope, .body = BYTES("2")};
    op.queue = vtable->queue_number(subject->store, BYTES("refunds"));
    subject_commit(subject, &op, 1);
    assert_queues(subject, "unused");
    if (subject->kind->durable) {
        subject_reopen(subject);
        assert_queues(subject, ""); /* nothing was ever in it */
    }
    subject_free(subject);
}

/* ---- waiting ---- */

static void put_due(struct subject *subject, const char *id, enum state state, int64_t delay_ms,
                    uint32_t attempts) {
    struct envelope envelope = subject_envelope(subject, id);
    envelope.state = state;
    envelope.attempts = attempts;
    envelope.delay_ms = delay_ms;
    envelope.next_attempt_at.ms = subject_now(subject).wall.ms + delay_ms;
    assert_int_equal(subject_put(subject, &envelope, "1", NULL), STATUS_OK);
}

static void a_delayed_message_is_ready_after_its_delay(void **state) {
    struct subject *subject = begin(state);
    put_due(subject, "a", STATE_QUEUED, 500, 0);
    struct store_queue_counts counts;
    assert_null(subject_take(subject, TAKE_READY));
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    assert_int_equal(counts.queued, 1);
    assert_int_equal(counts.delayed, 1);
    assert_int_equal(
        subject->store->vtable->next_ready(subject->store, subject->queue, TAKE_READY).ms,
        subject_now(subject).mono.ms + 500);
    subject_pass(subject, 499);
    assert_null(subject_take(subject, TAKE_READY));
    subject_pass(subject, 1);
    assert_taken(subject_take(subject, TAKE_READY), "a");
    subject_free(subject);
}

static void retries_come_in_the_order_of_their_due_times(void **state) {
    struct subject *subject = begin(state);
    put_due(subject, "late", STATE_PENDING_RETRY, 300, 1);
    put_due(subject, "soon", STATE_PENDING_RETRY, 100, 3);
    put_due(subject, "next", STATE_PENDING_RETRY, 200, 2);
    assert_null(subject_take(subject, TAKE_DUE));
    assert_null(subject_take(subject, TAKE_READY));
    subject_pass(subject, 250);
    assert_taken(subject_take(subject, TAKE_DUE), "soon");
    assert_state(subject, "soon", STATE_RETRYING);
    assert_taken(subject_take(subject, TAKE_DUE), "next");
    assert_null(subject_take(subject, TAKE_DUE));
    subject_free(subject);
}

/* Takes the next probe, which fails: it is due again at once. */
static void fail_probe(struct subject *subject, const char *id) {
    struct message *held = subject_take(subject, TAKE_DUE_LONGEST);
    assert_non_null(held);
    assert_bytes(held->envelope.id, id);
    held->envelope.state = STATE_PENDING_RETRY;
    held->envelope.delay_ms = 0;
    held->envelope.next_attempt_at = subject_now(subject).wall;
    assert_int_equal(subject_update(subject, held->seq, &held->envelope), STATUS_OK);
    message_free(held);
}

static void probes_get_what_was_handed_over_longest_ago(void **state) {
    struct subject *subject = begin(state);
    put_due(subject, "a", STATE_PENDING_RETRY, 100, 3);
    put_due(subject, "b", STATE_PENDING_RETRY, 200, 1);
    put_due(subject, "not due", STATE_PENDING_RETRY, 900 * 1000, 0);
    subject_pass(subject, 300);
    for (size_t round = 0; round < 3; round++) {
        fail_probe(subject, "a");
        subject_pass(subject, 10);
        fail_probe(subject, "b");
        subject_pass(subject, 10);
    }
    subject_free(subject);
}

static void probes_keep_their_order_when_the_clock_jumps_back(void **state) {
    struct subject *subject = begin(state);
    put_due(subject, "a", STATE_PENDING_RETRY, 100, 1);
    put_due(subject, "b", STATE_PENDING_RETRY, 200, 1);
    subject_pass(subject, 300);
    fail_probe(subject, "a");
    subject_jump(subject, -24 * 3600 * 1000);
    fail_probe(subject, "b");
    fail_probe(subject, "a");
    fail_probe(subject, "b");
    subject_free(subject);
}

static void what_is_given_back_waits_behind_the_others(void **state) {
    struct subject *subject = begin(state);
    const char *ids[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        struct envelope envelope = subject_envelope(subject, ids[i]);
        subject_put(subject, &envelope, "1", NULL);
    }
    struct message *held = subject_take(subject, TAKE_READY);
    assert_bytes(held->envelope.id, "a");
    struct mono due = mono_after(subject_now(subject).mono, 50);
    subject->store->vtable->give_back(subject->store, held, due);
    assert_state(subject, "a", STATE_QUEUED);
    assert_taken(subject_take(subject, TAKE_READY), "b");
    assert_null(subject_take(subject, TAKE_READY));
    subject_pass(subject, 50);
    assert_taken(subject_take(subject, TAKE_READY), "a");
    subject_free(subject);
}

static void a_replaying_letter_is_due_and_stays_in_the_depth(void **state) {
    struct subject *subject = begin(state);
    struct envelope letter = subject_letter(subject, "a");
    uint64_t seq = 0;
    subject_put(subject, &letter, "1", &seq);
    letter.state = STATE_REPLAYING;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
    assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("orders.dlq")), 1);
    assert_taken(subject_take(subject, TAKE_DUE), "a");
    assert_state(subject, "L-a", STATE_REPLAYING);
    letter.state = STATE_RESOLVED;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
    assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("orders.dlq")), 0);
    subject_free(subject);
}

static void a_wall_clock_that_jumps_does_not_prolong_a_delay(void **state) {
    struct subject *subject = begin(state);
    put_due(subject, "a", STATE_PENDING_RETRY, 1000, 1);
    if (subject->kind->durable) {
        subject_jump(subject, -3600 * 1000);
        subject_reopen(subject);
    }
    subject_pass(subject, 999);
    assert_null(subject_take(subject, TAKE_DUE));
    subject_pass(subject, 1);
    assert_taken(subject_take(subject, TAKE_DUE), "a");
    subject_free(subject);
}

static void hear(void *arg, uint32_t queue) {
    struct {
        pthread_mutex_t mutex;
        pthread_cond_t heard;
        uint32_t queue;
    } *ear = arg;
    pthread_mutex_lock(&ear->mutex);
    ear->queue = queue;
    pthread_cond_signal(&ear->heard);
    pthread_mutex_unlock(&ear->mutex);
}

static void the_listener_hears_of_what_became_ready(void **state) {
    struct subject *subject = begin(state);
    struct {
        pthread_mutex_t mutex;
        pthread_cond_t heard;
        uint32_t queue;
    } ear = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    subject->store->vtable->listen(subject->store, hear, &ear);
    struct envelope envelope = subject_envelope(subject, "a");
    subject_put(subject, &envelope, "1", NULL);
    pthread_mutex_lock(&ear.mutex);
    while (ear.queue == 0)
        pthread_cond_wait(&ear.heard, &ear.mutex);
    assert_int_equal(ear.queue, subject->queue);
    pthread_mutex_unlock(&ear.mutex);
    subject->store->vtable->listen(subject->store, NULL, NULL);
    subject_free(subject);
}

/* ---- what survives ---- */

static void everything_survives_closing(void **state) {
    struct subject *subject = begin(state);
    if (!subject->kind->durable) {
        subject_free(subject);
        skip();
    }
    uint64_t taken = 0, letter_seq = 0;
    struct envelope envelope = subject_envelope(subject, "queued");
    subject_put(subject, &envelope, "1", &taken);
    put_due(subject, "retry", STATE_PENDING_RETRY, 100, 2);
    struct envelope letter = subject_letter(subject, "letter");
    subject_put(subject, &letter, "dead", &letter_seq);
    struct store_op facts = {
        .kind = STORE_QUEUE, .queue = subject->queue, .queue_facts = BYTES("{\"paused\":true}")};
    subject_commit(subject, &facts, 1);
    message_free(subject_take(subject, TAKE_READY));

    subject_reopen(subject);
    assert_taken(subject_take(subject, TAKE_READY), "queued");
    subject_pass(subject, 100);
    assert_taken(subject_take(subject, TAKE_DUE), "retry");
    assert_state(subject, "L-letter", STATE_PENDING_REVIEW);
    assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("orders.dlq")), 1);
    assert_bytes(
        subject->store->vtable->queue_facts(subject->store, subject->queue, &subject->arena),
        "{\"paused\":true}");
    uint64_t seq = 0;
    envelope = subject_envelope(subject, "new");
    subject_put(subject, &envelope, "1", &seq);
    assert_true(seq > letter_seq);
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(what_was_put_is_taken_with_its_body)                                                         \
    X(what_is_taken_is_not_taken_twice)                                                            \
    X(ready_messages_come_oldest_first)                                                            \
    X(a_taken_message_is_shown_as_running)                                                         \
    X(a_forgotten_message_is_gone)                                                                 \
    X(an_update_without_a_body_keeps_the_body)                                                     \
    X(an_update_with_a_body_replaces_it)                                                           \
    X(a_state_that_cannot_follow_is_refused)                                                       \
    X(the_same_id_with_the_same_body_changes_nothing)                                              \
    X(the_same_id_with_another_body_refuses_the_whole_commit)                                      \
    X(ids_clash_within_one_commit)                                                                 \
    X(an_id_is_held_in_any_state_and_free_when_forgotten)                                          \
    X(an_id_that_only_a_decided_letter_has_is_free)                                                \
    X(an_id_is_held_after_the_file_alone_knows_it)                                                 \
    X(many_ids_are_asked_for_at_once)                                                              \
    X(an_id_is_found_wherever_it_stands_among_those_asked_for)                                     \
    X(an_id_in_several_queues_is_ambiguous)                                                        \
    X(a_delayed_message_is_ready_after_its_delay)                                                  \
    X(retries_come_in_the_order_of_their_due_times)                                                \
    X(probes_get_what_was_handed_over_longest_ago)                                                 \
    X(probes_keep_their_order_when_the_clock_jumps_back)                                           \
    X(what_is_given_back_waits_behind_the_others)                                                  \
    X(a_replaying_letter_is_due_and_stays_in_the_depth)                                            \
    X(a_wall_clock_that_jumps_does_not_prolong_a_delay)                                            \
    X(the_listener_hears_of_what_became_ready)                                                     \
    X(queues_are_told_by_their_numbers)                                                            \
    X(everything_survives_closing)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
