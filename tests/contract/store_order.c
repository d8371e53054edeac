/* Order by key and groups by fingerprint, held against every store. */
#include "store_subject.h"

#include <stdio.h>

#include "base/rng.h"
#include "core/lifecycle.h"
#include "test.h"

static struct subject *begin(void **state) {
    struct subject *subject = subject_new(*state);
    subject->store->vtable->set_order(subject->store, subject->queue, ORDER_KEY);
    return subject;
}

static void reopen(struct subject *subject) {
    if (!subject->kind->durable)
        return;
    subject_reopen(subject);
    subject->store->vtable->set_order(subject->store, subject->queue, ORDER_KEY);
}

static uint64_t put(struct subject *subject, const char *id, const char *key) {
    struct envelope envelope = subject_envelope(subject, id);
    envelope.key = bytes_of(key);
    uint64_t seq = 0;
    assert_int_equal(subject_put(subject, &envelope, "1", &seq), STATUS_OK);
    return seq;
}

/* It died, and its key waits for it. */
static void bury(struct subject *subject, uint64_t seq, const char *id, const char *key) {
    struct envelope letter = subject_letter(subject, id);
    letter.key = bytes_of(key);
    letter.closes_key = true;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
}

static void replay(struct subject *subject, uint64_t seq, const char *id, const char *key) {
    struct envelope letter = subject_letter(subject, id);
    letter.key = bytes_of(key);
    letter.closes_key = true;
    letter.state = STATE_REPLAYING;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
}

static void mark(struct subject *subject, uint64_t seq, enum state to) {
    struct store_op op = {.kind = STORE_MARK,
                          .queue = subject->queue,
                          .seq = seq,
                          .mark = {.state = to, .at = subject_now(subject).wall}};
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
}

/* Everything that can be taken, joined by spaces. */
static const char *take_all(struct subject *subject, enum store_take which) {
    struct buf ids;
    buf_init_heap(&ids, 1 << 12);
    for (struct message *held; (held = subject_take(subject, which)) != NULL;) {
        buf_printf(&ids, "%s%.*s", ids.len ? " " : "", BYTES_ARG(held->envelope.id));
        message_free(held);
    }
    const char *copy = arena_cstr(&subject->arena, buf_view(&ids));
    buf_free(&ids);
    return copy;
}

static void assert_blocked_by(struct subject *subject, const char *id, const char *letter) {
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(subject->store->letters, BYTES_NONE, bytes_of(id), &held, &err),
                     STATUS_OK);
    assert_bytes(held->envelope.blocked_by, letter);
    message_free(held);
}

/* ---- turns ---- */

static void of_one_key_only_the_oldest_is_taken(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    put(subject, "b1", "b");
    put(subject, "none1", NULL);
    put(subject, "none2", NULL);
    struct store_queue_counts counts;
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    assert_int_equal(counts.queued, 5);
    assert_string_equal(take_all(subject, TAKE_READY), "a1 b1 none1 none2");
    assert_int_equal(subject_forget(subject, first), STATUS_OK);
    assert_string_equal(take_all(subject, TAKE_READY), "a2");
    subject_free(subject);
}

static void a_head_that_waits_for_its_retry_keeps_its_place(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    assert_string_equal(take_all(subject, TAKE_READY), "a1");
    struct envelope retry = subject_envelope(subject, "a1");
    retry.key = BYTES("a");
    retry.state = STATE_PENDING_RETRY;
    retry.delay_ms = 100;
    retry.next_attempt_at.ms = subject_now(subject).wall.ms + 100;
    assert_int_equal(subject_update(subject, first, &retry), STATUS_OK);
    assert_string_equal(take_all(subject, TAKE_READY), "");
    subject_pass(subject, 100);
    assert_string_equal(take_all(subject, TAKE_READY), "");
    assert_string_equal(take_all(subject, TAKE_DUE), "a1");
    subject_forget(subject, first);
    assert_string_equal(take_all(subject, TAKE_READY), "a2");
    subject_free(subject);
}

static void what_is_given_back_is_still_first(void **state) {
    struct subject *subject = begin(state);
    put(subject, "a1", "a");
    put(subject, "a2", "a");
    struct message *held = subject_take(subject, TAKE_READY);
    subject->store->vtable->give_back(subject->store, held, subject_now(subject).mono);
    assert_string_equal(take_all(subject, TAKE_READY), "a1");
    subject_free(subject);
}

static void a_blocked_one_cannot_be_taken_by_its_number(void **state) {
    struct subject *subject = begin(state);
    put(subject, "a1", "a");
    uint64_t second = put(subject, "a2", "a");
    assert_null(subject->store->vtable->take_one(subject->store, subject->queue, second));
    subject_free(subject);
}

static void a_blocked_one_can_be_taken_by_whoever_means_it(void **state) {
    struct subject *subject = begin(state);
    put(subject, "a1", "a");
    uint64_t second = put(subject, "a2", "a");
    put(subject, "a3", "a");
    const struct store_vtable *vtable = subject->store->vtable;
    struct message *held = vtable->take_any(subject->store, subject->queue, second);
    assert_non_null(held);
    assert_null(vtable->take_any(subject->store, subject->queue, second));
    assert_string_equal(take_all(subject, TAKE_READY), "a1");
    vtable->give_back(subject->store, held, subject_now(subject).mono);
    assert_string_equal(take_all(subject, TAKE_READY), "");
    held = vtable->take_any(subject->store, subject->queue, second);
    assert_non_null(held);
    vtable->give_back(subject->store, held, subject_now(subject).mono);
    subject_free(subject);
}

/* ---- closed keys ---- */

static void a_dead_head_closes_its_key_until_it_is_decided(void **state) {
    static const enum state ends[] = {STATE_RESOLVED, STATE_DISCARDED};
    for (size_t i = 0; i < 2; i++) {
        struct subject *subject = begin(state);
        uint64_t first = put(subject, "a1", "a");
        put(subject, "a2", "a");
        assert_string_equal(take_all(subject, TAKE_READY), "a1");
        bury(subject, first, "a1", "a");
        assert_string_equal(take_all(subject, TAKE_READY), "");
        assert_blocked_by(subject, "a2", "L-a1");
        assert_string_equal(
            subject_list(subject,
                         &(struct letters_query){.limit = 9, .states = 1u << STATE_QUEUED}),
            "a2");
        reopen(subject);
        put(subject, "a3", "a");
        assert_string_equal(take_all(subject, TAKE_READY), "");
        assert_blocked_by(subject, "a3", "L-a1");
        mark(subject, first, ends[i]);
        assert_string_equal(take_all(subject, TAKE_READY), "a2");
        assert_blocked_by(subject, "a2", "");
        subject_free(subject);
    }
}

static void a_list_tells_what_blocks(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    bury(subject, first, "a1", "a");
    struct letters_page page;
    struct envelope envelope;
    struct err err;
    struct letters_query query = {.limit = 1, .states = 1u << STATE_QUEUED};
    assert_int_equal(letters_list(subject->store->letters, &query, &subject->arena, &page, &err),
                     STATUS_OK);
    envelope_restore(page.rows[0].envelope, &subject->arena, &envelope, &err);
    assert_bytes(envelope.blocked_by, "L-a1");
    subject_free(subject);
}

static void letters_that_do_not_close_let_the_key_go_on(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    struct envelope letter = subject_letter(subject, "a1");
    letter.key = BYTES("a");
    subject_update(subject, first, &letter);
    assert_string_equal(take_all(subject, TAKE_READY), "a2");
    subject_free(subject);
}

static void a_replayed_head_goes_alone_and_then_its_successors(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    bury(subject, first, "a1", "a");
    replay(subject, first, "a1", "a");
    assert_string_equal(take_all(subject, TAKE_READY), "");
    assert_string_equal(take_all(subject, TAKE_DUE), "a1");
    struct envelope done = subject_letter(subject, "a1");
    done.key = BYTES("a");
    done.state = STATE_RESOLVED;
    done.closes_key = true;
    subject_update(subject, first, &done);
    assert_string_equal(take_all(subject, TAKE_READY), "a2");
    subject_free(subject);
}

static void replayed_letters_of_one_key_go_in_their_order(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a"), second = put(subject, "a2", "a");
    put(subject, "a3", "a");
    uint64_t fourth = put(subject, "a4", "a");
    bury(subject, first, "a1", "a");
    bury(subject, second, "a2", "a");
    bury(subject, fourth, "a4", "a");
    replay(subject, fourth, "a4", "a");
    replay(subject, second, "a2", "a");
    replay(subject, first, "a1", "a");
    reopen(subject);
    assert_string_equal(take_all(subject, TAKE_DUE), "a1");
    mark(subject, first, STATE_RESOLVED);
    assert_string_equal(take_all(subject, TAKE_DUE), "a2");
    mark(subject, second, STATE_RESOLVED);
    assert_string_equal(take_all(subject, TAKE_DUE), ""); /* a3 is older than a4 and may go */
    struct message *held = subject_take(subject, TAKE_READY);
    assert_bytes(held->envelope.id, "a3");
    assert_int_equal(subject_forget(subject, held->seq), STATUS_OK);
    message_free(held);
    assert_string_equal(take_all(subject, TAKE_DUE), "a4");
    subject_free(subject);
}

static void a_replayed_letter_does_not_wait_for_what_people_keep_waiting(void **state) {
    struct subject *subject = begin(state);
    uint64_t first = put(subject, "a1", "a");
    put(subject, "a2", "a");
    uint64_t third = put(subject, "a3", "a");
    bury(subject, first, "a1", "a");
    bury(subject, third, "a3", "a");
    replay(subject, third, "a3", "a");
    assert_string_equal(take_all(subject, TAKE_DUE), "a3");
    assert_string_equal(take_all(subject, TAKE_READY), "");
    subject_free(subject);
}

static void beyond_the_limit_the_blocked_ones_are_given_youngest_last(void **state) {
    struct subject *subject = begin(state);
    const struct store_vtable *vtable = subject->store->vtable;
    uint64_t first = put(subject, "a1", "a");
    static const char *const ids[] = {"a2", "a3", "a4", "a5"};
    for (size_t i = 0; i < 4; i++)
        put(subject, ids[i], "a");
    struct message *held[8];
    assert_int_equal(vtable->take_blocked(subject->store, subject->queue, 2, held, 8), 0);
    bury(subject, first, "a1", "a");
    assert_int_equal(vtable->take_blocked(subject->store, subject->queue, 4, held, 8), 0);
    assert_int_equal(vtable->take_blocked(subject->store, subject->queue, 2, held, 8), 2);
    assert_bytes(held[0]->envelope.id, "a4");
    assert_bytes(held[1]->envelope.id, "a5");
    struct message *again[8];
    assert_int_equal(vtable->take_blocked(subject->store, subject->queue, 2, again, 8), 0);
    bury(subject, held[0]->seq, "a4", "a");
    message_free(held[0]);
    vtable->give_back(subject->store, held[1], subject_now(subject).mono);
    assert_int_equal(vtable->take_blocked(subject->store, subject->queue, 2, held, 8), 1);
    bury(subject, held[0]->seq, "a5", "a");
    message_free(held[0]);
    assert_blocked_by(subject, "a2", "L-a1");
    mark(subject, first, STATE_RESOLVED);
    for (size_t i = 0; i < 2; i++) {
        struct message *next = subject_take(subject, TAKE_READY);
        assert_bytes(next->envelope.id, ids[i]);
        subject_forget(subject, next->seq);
        message_free(next);
    }
    put(subject, "a6", "a");
    assert_blocked_by(subject, "a6", "L-a4");
    subject_free(subject);
}

/* ---- chance ---- */

enum { CHANCE_KEYS = 3, CHANCE_STEPS = 600 };

struct chance {
    uint64_t last_done[CHANCE_KEYS]; /* number of the last one that ended, by key */
    uint64_t out[CHANCE_KEYS];       /* taken now; 0: none */
};

static void end_one(struct subject *subject, struct chance *chance, struct rng *rng, size_t key) {
    static const char *const names[CHANCE_KEYS] = {"a", "b", "c"};
    char id[24];
    snprintf(id, sizeof id, "m%llu", (unsigned long long)chance->out[key]);
    uint64_t seq = chance->out[key];
    chance->out[key] = 0;
    if (rng_below(rng, 3) == 0) {
        bury(subject, seq, id, names[key]);
        return;
    }
    assert_true(seq > chance->last_done[key]);
    chance->last_done[key] = seq;
    assert_int_equal(subject_forget(subject, seq), STATUS_OK);
}

/* Whatever is taken is the oldest of its key that has not ended, and alone. */
static void take_some(struct subject *subject, struct chance *chance, enum store_take which) {
    for (struct message *held; (held = subject_take(subject, which)) != NULL;) {
        size_t key = (size_t)(held->envelope.key.ptr[0] - 'a');
        assert_int_equal(chance->out[key], 0);
        assert_true(held->seq > chance->last_done[key]);
        chance->out[key] = held->seq;
        message_free(held);
    }
}

static void replay_all(struct subject *subject) {
    struct letters_page page;
    struct err err;
    struct letters_query query = {.limit = 500, .states = 1u << STATE_PENDING_REVIEW};
    assert_int_equal(letters_list(subject->store->letters, &query, &subject->arena, &page, &err),
                     STATUS_OK);
    for (size_t i = 0; i < page.count; i++) {
        struct envelope envelope;
        envelope_restore(page.rows[i].envelope, &subject->arena, &envelope, &err);
        envelope.state = STATE_REPLAYING;
        assert_int_equal(subject_update(subject, page.rows[i].seq, &envelope), STATUS_OK);
    }
}

static void whatever_happens_each_key_ends_in_order(void **state) {
    struct subject *subject = begin(state);
    static const char *const names[CHANCE_KEYS] = {"a", "b", "c"};
    struct chance chance = {.out = {0}};
    struct rng rng;
    rng_seed(&rng, 11);
    char id[24];
    for (uint64_t step = 0, next = 1; step < CHANCE_STEPS; step++) {
        size_t key = rng_below(&rng, CHANCE_KEYS);
        if (rng_below(&rng, 3) == 0) {
            snprintf(id, sizeof id, "m%llu", (unsigned long long)next);
            assert_int_equal(put(subject, id, names[key]), next);
            next++;
        } else if (chance.out[key] != 0) {
            end_one(subject, &chance, &rng, key);
        }
        take_some(subject, &chance, TAKE_READY);
        take_some(subject, &chance, TAKE_DUE);
        if (step % 40 == 39)
            replay_all(subject);
    }
    subject_free(subject);
}

/* ---- groups ---- */

static uint64_t put_failed(struct subject *subject, const char *id, uint64_t fingerprint) {
    struct envelope letter = subject_letter(subject, id);
    letter.fingerprint = fingerprint;
    uint64_t seq = 0;
    assert_int_equal(subject_put(subject, &letter, "1", &seq), STATUS_OK);
    return seq;
}

static void letters_are_grouped_by_fingerprint(void **state) {
    struct subject *subject = subject_new(*state);
    int64_t start = subject_now(subject).wall.ms;
    uint64_t first = put_failed(subject, "a", 7);
    subject_pass(subject, 10);
    uint64_t last = put_failed(subject, "b", 7);
    put_failed(subject, "c", 8);
    struct letters_group *groups = NULL;
    struct letters *letters = subject->store->letters;
    size_t count;
    for (int round = 0; round < 2; round++) {
        letters = subject->store->letters;
        assert_int_equal(
            letters_groups(letters, BYTES_NONE, &subject->arena, &groups, &count, NULL), STATUS_OK);
        assert_int_equal(count, 2);
        assert_int_equal(groups[0].fingerprint, 7);
        assert_bytes(groups[0].dlq, "orders.dlq");
        assert_int_equal(groups[0].count, 2);
        assert_int_equal(groups[0].total, 2);
        assert_int_equal(groups[0].first_seen.ms, start);
        assert_int_equal(groups[0].last_seen.ms, start + 10);
        assert_int_equal(groups[0].sample, last);
        assert_int_equal(groups[1].count, 1);
        if (subject->kind->durable)
            subject_reopen(subject);
    }
    mark(subject, first, STATE_DISCARDED);
    mark(subject, last, STATE_RESOLVED);
    letters = subject->store->letters;
    assert_int_equal(
        letters_groups(letters, BYTES("orders.dlq"), &subject->arena, &groups, &count, NULL),
        STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(groups[0].fingerprint, 8);
    assert_int_equal(groups[1].count, 0);
    assert_int_equal(groups[1].total, 2);
    assert_int_equal(letters_groups(letters, BYTES("none"), &subject->arena, &groups, &count, NULL),
                     STATUS_OK);
    assert_int_equal(count, 0);
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(of_one_key_only_the_oldest_is_taken)                                                         \
    X(a_head_that_waits_for_its_retry_keeps_its_place)                                             \
    X(what_is_given_back_is_still_first)                                                           \
    X(a_blocked_one_cannot_be_taken_by_its_number)                                                 \
    X(a_blocked_one_can_be_taken_by_whoever_means_it)                                              \
    X(a_dead_head_closes_its_key_until_it_is_decided)                                              \
    X(a_list_tells_what_blocks)                                                                    \
    X(letters_that_do_not_close_let_the_key_go_on)                                                 \
    X(a_replayed_head_goes_alone_and_then_its_successors)                                          \
    X(replayed_letters_of_one_key_go_in_their_order)                                               \
    X(a_replayed_letter_does_not_wait_for_what_people_keep_waiting)                                \
    X(beyond_the_limit_the_blocked_ones_are_given_youngest_last)                                   \
    X(whatever_happens_each_key_ends_in_order)                                                     \
    X(letters_are_grouped_by_fingerprint)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
