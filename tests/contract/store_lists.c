/* The port's reading side: lists with every filter, pages that hold still, and counters that a
 * recount confirms. */
#include "store_subject.h"

#include <stdio.h>

#include "base/rng.h"
#include "core/lifecycle.h"
#include "test.h"

#define LIST(...)     subject_list(subject, &(struct letters_query){.limit = 100, __VA_ARGS__})
#define ONLY(state)   .states = 1u << STATE_##state
#define IS(text, ...) assert_string_equal(LIST(__VA_ARGS__), text)

/* Five messages that differ in everything that can be asked for. */
static struct subject *begin(void **state) {
    struct subject *subject = subject_new(*state);
    struct envelope queued = subject_envelope(subject, "queued");
    queued.key = BYTES("k1");
    subject_put(subject, &queued, "1", NULL);
    subject_pass(subject, 1000);
    struct envelope retry = subject_envelope(subject, "retry");
    retry.state = STATE_PENDING_RETRY;
    retry.attempts = 3;
    subject_put(subject, &retry, "1", NULL);
    subject_pass(subject, 1000);
    struct envelope bug = subject_letter(subject, "bug");
    bug.fingerprint = 0xabcdef;
    subject_put(subject, &bug, "1", NULL);
    subject_pass(subject, 1000);
    struct envelope slow = subject_letter(subject, "slow");
    slow.dlq = BYTES("orders.dlq.slow");
    slow.cause = CAUSE_EXHAUSTED;
    slow.category = BYTES("timeout");
    slow.reason = BYTES("max_attempts:timeout");
    slow.error_type = BYTES("Timeout");
    slow.error_message = BYTES("no answer from upstream within 10s");
    slow.attempts = 5;
    slow.escalated_at = subject_now(subject).wall;
    subject_put(subject, &slow, "1", NULL);
    subject_pass(subject, 1000);
    struct envelope resolved = subject_letter(subject, "resolved");
    resolved.state = STATE_RESOLVED;
    subject_put(subject, &resolved, "1", NULL);
    return subject;
}

static void lists_are_newest_first_and_filtered(void **state) {
    struct subject *subject = begin(state);
    struct wall now = subject_now(subject).wall;
    IS("resolved slow bug retry queued", .queue = BYTES_NONE);
    IS("resolved slow bug retry queued", .queue = BYTES("orders"));
    IS("", .queue = BYTES("nobody"));
    IS("resolved bug", .dlq = BYTES("orders.dlq"));
    IS("resolved slow bug", .letters = true);
    IS("bug", .dlq = BYTES("orders.dlq"), ONLY(PENDING_REVIEW));
    IS("slow", .category = BYTES("timeout"));
    IS("slow", .reason_prefix = BYTES("max_attempts:"));
    IS("slow", .reason_prefix = BYTES("timeout"));
    IS("", .reason_prefix = BYTES("attempts:"));
    IS("", .reason_prefix = BYTES("imeout"));
    IS("resolved bug", .error_type = BYTES("KeyError"));
    IS("queued", .key = BYTES("k1"));
    IS("slow", .has_cause = true, .cause = CAUSE_EXHAUSTED);
    IS("bug", .has_fingerprint = true, .fingerprint = 0xabcdef);
    IS("slow retry", .min_attempts = 3);
    IS("slow", .escalated = LETTERS_YES);
    IS("resolved bug", .letters = true, .escalated = LETTERS_NO);
    IS("resolved slow", .since = {now.ms - 1000});
    IS("bug retry queued", .until = {now.ms - 1000});
    IS("slow", .text = BYTES("upstream answer"));
    IS("resolved bug", .text = BYTES("keyerror"));
    IS("", .text = BYTES("upstream price"));
    IS("slow", .letters = true, .category = BYTES("timeout"));
    IS("", .letters = true, .category = BYTES("nobody's"));
    IS("slow", .letters = true, .reason_prefix = BYTES("max_attempts:"));
    IS("slow", .letters = true, .reason_prefix = BYTES("max_a"), ONLY(PENDING_REVIEW));
    IS("slow", .letters = true, .reason_prefix = BYTES("timeo"), ONLY(PENDING_REVIEW));
    IS("", .letters = true, .reason_prefix = BYTES("max_a"), ONLY(RESOLVED));
    IS("", .letters = true, .reason_prefix = BYTES("zzz"), ONLY(PENDING_REVIEW));
    IS("resolved bug", .letters = true, .error_type = BYTES("KeyError"));
    IS("slow", .letters = true, .has_cause = true, .cause = CAUSE_EXHAUSTED);
    IS("", .letters = true, .has_cause = true, .cause = CAUSE_CRASH);
    IS("bug", .letters = true, .has_fingerprint = true, .fingerprint = 0xabcdef);
    IS("slow", .letters = true, .min_attempts = 5);
    IS("", .letters = true, .min_attempts = 1000);
    IS("slow", .letters = true, .escalated = LETTERS_YES);
    IS("", .letters = true, .key = BYTES("k1"));
    IS("resolved slow bug", .letters = true, .queue = BYTES("orders"));
    IS("", .letters = true, .queue = BYTES("nobody"));
    IS("bug slow resolved", .letters = true, .oldest_first = true);
    IS("queued retry bug slow resolved", .oldest_first = true);
    subject_free(subject);
}

static void put_of_cause(struct subject *subject, const char *id, const char *dlq,
                         uint64_t fingerprint) {
    subject_pass(subject, 1000);
    struct envelope letter = subject_letter(subject, id);
    letter.dlq = bytes_of(dlq);
    letter.fingerprint = fingerprint;
    assert_int_equal(subject_put(subject, &letter, "1", NULL), STATUS_OK);
}

/* Wherever and whenever they died, between others, and whatever became of some of them. */
static void letters_of_a_cause_are_found_wherever_they_died(void **state) {
    struct subject *subject = subject_new(*state);
    put_of_cause(subject, "other-1", "orders.dlq", 8);
    put_of_cause(subject, "first", "orders.dlq", 7);
    put_of_cause(subject, "other-2", "orders.dlq", 8);
    put_of_cause(subject, "second", "orders.dlq.slow", 7);
    put_of_cause(subject, "other-3", "orders.dlq", 8);
    for (int round = 0; round < 2; round++) {
        IS("second first", .letters = true, .has_fingerprint = true, .fingerprint = 7,
           ONLY(PENDING_REVIEW));
        IS("second", .dlq = BYTES("orders.dlq.slow"), .has_fingerprint = true, .fingerprint = 7,
           ONLY(PENDING_REVIEW));
        IS("first", .letters = true, .has_fingerprint = true, .fingerprint = 7,
           ONLY(PENDING_REVIEW), .until = {subject_now(subject).wall.ms - 1000});
        IS("second", .letters = true, .has_fingerprint = true, .fingerprint = 7,
           ONLY(PENDING_REVIEW), .since = {subject_now(subject).wall.ms - 1000});
        IS("", .letters = true, .has_fingerprint = true, .fingerprint = 9, ONLY(PENDING_REVIEW));
        IS("", .letters = true, .has_fingerprint = true, .fingerprint = 7, ONLY(RESOLVED));
        if (subject->kind->durable)
            subject_reopen(subject);
    }
    subject_free(subject);
}

static void a_letter_is_found_by_what_a_late_answer_told(void **state) {
    struct subject *subject = subject_new(*state);
    struct envelope letter = subject_letter(subject, "late");
    uint64_t seq;
    letter.fingerprint = 7;
    assert_int_equal(subject_put(subject, &letter, "1", &seq), STATUS_OK);
    subject_pass(subject, 1000);
    letter.fingerprint = 8;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
    for (int round = 0; round < 2; round++) {
        IS("late", .letters = true, .has_fingerprint = true, .fingerprint = 8,
           ONLY(PENDING_REVIEW));
        IS("", .letters = true, .has_fingerprint = true, .fingerprint = 7, ONLY(PENDING_REVIEW));
        if (subject->kind->durable)
            subject_reopen(subject);
    }
    subject_free(subject);
}

static void a_sum_counts_what_lists_show(void **state) {
    struct subject *subject = begin(state);
    struct wall now = subject_now(subject).wall;
    const struct {
        struct letters_query query;
        uint64_t waiting, resolved, adopted;
        int64_t newest_ms;
    } cases[] = {
        {{.letters = true}, 2, 1, 0, now.ms},
        {{.letters = true, .dlq = BYTES("orders.dlq")}, 1, 1, 0, now.ms},
        {{.letters = true, .category = BYTES("timeout")}, 1, 0, 0, now.ms - 1000},
        {{.letters = true, .text = BYTES("upstream")}, 1, 0, 0, now.ms - 1000},
        {{.letters = true, .until = {now.ms}, .limit = 1}, 2, 0, 0, now.ms - 1000},
        {{.letters = true, .category = BYTES("nobody's")}, 0, 0, 0, WALL_NEVER.ms},
        {{.letters = true, .queue = BYTES("nobody")}, 0, 0, 0, WALL_NEVER.ms},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct letters_query query = cases[i].query;
        struct letters_sum sum;
        struct err err;
        query.states = 1u << STATE_PENDING_REVIEW | 1u << STATE_RESOLVED;
        assert_int_equal(letters_sum(subject->store->letters, &query, &sum, &err), STATUS_OK);
        assert_int_equal(sum.count[STATE_PENDING_REVIEW], cases[i].waiting);
        assert_int_equal(sum.count[STATE_RESOLVED], cases[i].resolved);
        assert_int_equal(sum.adopted, cases[i].adopted);
        assert_int_equal(sum.newest.ms, cases[i].newest_ms);
    }
    struct envelope adopted = subject_letter(subject, "adopted");
    adopted.cause = CAUSE_ADOPTED;
    subject_put(subject, &adopted, "1", NULL);
    struct letters_query all = {.letters = true, ONLY(PENDING_REVIEW)};
    struct letters_sum sum;
    assert_int_equal(letters_sum(subject->store->letters, &all, &sum, NULL), STATUS_OK);
    assert_int_equal(sum.count[STATE_PENDING_REVIEW], 3);
    assert_int_equal(sum.adopted, 1);
    subject_free(subject);
}

static void what_is_taken_is_listed_as_running_and_retrying(void **state) {
    struct subject *subject = begin(state);
    message_free(subject_take(subject, TAKE_READY));
    message_free(subject_take(subject, TAKE_DUE));
    IS("queued", ONLY(RUNNING));
    IS("retry", ONLY(RETRYING));
    IS("", ONLY(QUEUED));
    IS("", ONLY(PENDING_RETRY));
    struct letters_query query = {.limit = 1, ONLY(RUNNING)};
    struct letters_page page;
    struct err err;
    assert_int_equal(letters_list(subject->store->letters, &query, &subject->arena, &page, &err),
                     STATUS_OK);
    struct envelope shown;
    assert_int_equal(envelope_restore(page.rows[0].envelope, &subject->arena, &shown, NULL),
                     STATUS_OK);
    assert_int_equal(shown.state, STATE_RUNNING);
    subject_free(subject);
}

static void what_cannot_be_understood_is_refused(void **state) {
    struct subject *subject = begin(state);
    struct letters_page page;
    struct err err;
    struct letters_query bad_cursor = {.limit = 1, .cursor = BYTES("nonsense")};
    struct letters_query bad_text = {.limit = 1, .text = BYTES("\"*(")};
    assert_int_equal(
        letters_list(subject->store->letters, &bad_cursor, &subject->arena, &page, &err),
        STATUS_INVALID);
    assert_int_equal(letters_list(subject->store->letters, &bad_text, &subject->arena, &page, &err),
                     STATUS_INVALID);
    subject_free(subject);
}

/* Reads page by page while new letters arrive; what was there at the start is seen once each. */
static void pages_hold_still(void **state) {
    struct subject *subject = subject_new(*state);
    char id[16];
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "m%d", i);
        struct envelope letter = subject_letter(subject, id);
        subject_put(subject, &letter, "1", NULL);
        subject_pass(subject, i % 3); /* some die in the same millisecond */
    }
    struct letters_query query = {.limit = 3, .letters = true};
    int next = 9, pages = 0;
    do {
        struct letters_page page;
        struct err err;
        assert_int_equal(
            letters_list(subject->store->letters, &query, &subject->arena, &page, &err), STATUS_OK);
        for (size_t i = 0; i < page.count; i++) {
            struct envelope envelope;
            envelope_restore(page.rows[i].envelope, &subject->arena, &envelope, &err);
            snprintf(id, sizeof id, "m%d", next--);
            assert_bytes(envelope.id, id);
        }
        query.cursor = page.cursor;
        snprintf(id, sizeof id, "late%d", pages++);
        subject_pass(subject, 5);
        struct envelope letter = subject_letter(subject, id);
        subject_put(subject, &letter, "1", NULL);
    } while (query.cursor.ptr);
    assert_int_equal(next, -1);
    assert_int_equal(pages, 4);
    subject_free(subject);
}

/* The same from the other end: what arrives meanwhile comes at the end. */
static void pages_run_oldest_first(void **state) {
    struct subject *subject = subject_new(*state);
    char id[16];
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "m%d", i);
        struct envelope letter = subject_letter(subject, id);
        subject_put(subject, &letter, "1", NULL);
        subject_pass(subject, i % 3);
    }
    struct letters_query query = {
        .limit = 4, .letters = true, .oldest_first = true, .dlq = BYTES("orders.dlq")};
    static const char *const pages[] = {"m0 m1 m2 m3", "m4 m5 m6 m7", "m8 m9 late0 late1"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct letters_page page;
        struct err err;
        assert_string_equal(subject_list(subject, &query), pages[i]);
        assert_int_equal(
            letters_list(subject->store->letters, &query, &subject->arena, &page, &err), STATUS_OK);
        query.cursor = page.cursor;
        snprintf(id, sizeof id, "late%zu", i);
        subject_pass(subject, 5);
        struct envelope letter = subject_letter(subject, id);
        subject_put(subject, &letter, "1", NULL);
    }
    subject_free(subject);
}

/* ---- counters ---- */

enum { RECOUNT_IDS = 40, RECOUNT_STEPS = 300 };

struct recount {
    bool held;
    uint64_t seq;
    struct envelope envelope;
};

static const struct bytes categories[] = {{"bug", 3}, {"timeout", 7}, {"auth", 4}};

static void change(struct subject *subject, struct rng *rng, struct recount *message, int number) {
    char id[16];
    snprintf(id, sizeof id, "m%d", number);
    if (message->held && rng_below(rng, 4) == 0) {
        assert_int_equal(subject_forget(subject, message->seq), STATUS_OK);
        message->held = false;
        return;
    }
    if (message->held) {
        static const enum state states[] = {STATE_REPLAYING, STATE_PENDING_REVIEW, STATE_RESOLVED,
                                            STATE_DISCARDED};
        enum state to = states[rng_below(rng, 4)];
        if (!lifecycle_allows(message->envelope.state, to))
            return;
        message->envelope.state = to;
        assert_int_equal(subject_update(subject, message->seq, &message->envelope), STATUS_OK);
        return;
    }
    message->envelope = subject_letter(subject, id);
    message->envelope.category = categories[rng_below(rng, 3)];
    assert_int_equal(subject_put(subject, &message->envelope, "1", &message->seq), STATUS_OK);
    message->held = true;
}

static uint64_t counted(const struct letters_dlq *dlq, struct bytes category) {
    for (size_t i = 0; i < dlq->category_count; i++) {
        if (bytes_eq(dlq->by_category[i].name, category))
            return dlq->by_category[i].count;
    }
    return 0;
}

static void compare(struct subject *subject, const struct recount *messages, uint64_t arrived) {
    uint64_t depth = 0, by_category[3] = {0}, by_state[STATE_COUNT] = {0};
    struct wall oldest = WALL_NEVER;
    for (int i = 0; i < RECOUNT_IDS; i++) {
        const struct envelope *envelope = &messages[i].envelope;
        by_state[envelope->state] += messages[i].held;
        if (!messages[i].held || !lifecycle_counts_in_depth(envelope->state))
            continue;
        depth++;
        for (int j = 0; j < 3; j++)
            by_category[j] += bytes_eq(envelope->category, categories[j]);
        if (oldest.ms == 0 || envelope->dead_at.ms < oldest.ms)
            oldest = envelope->dead_at;
    }
    struct letters_dlq dlq;
    assert_int_equal(letters_dlq(subject->store->letters, BYTES("orders.dlq"),
                                 subject_now(subject).wall, &subject->arena, &dlq, NULL),
                     STATUS_OK);
    assert_int_equal(dlq.depth, depth);
    assert_int_equal(dlq.total, arrived);
    for (int i = 0; i < STATE_COUNT; i++)
        assert_int_equal(dlq.by_state[i], by_state[i]);
    for (int j = 0; j < 3; j++)
        assert_int_equal(counted(&dlq, categories[j]), by_category[j]);
    uint64_t ages = 0;
    for (int i = 0; i < LETTERS_AGE_BUCKETS; i++)
        ages += dlq.ages[i];
    assert_int_equal(ages, depth);
    assert_true(dlq.oldest.ms <= oldest.ms && dlq.oldest.ms >= oldest.ms - 1000);
}

static void counters_equal_a_recount(void **state) {
    struct subject *subject = subject_new(*state);
    struct recount messages[RECOUNT_IDS] = {0};
    struct rng rng;
    rng_seed(&rng, 7);
    uint64_t arrived = 0;
    for (int step = 0; step < RECOUNT_STEPS; step++) {
        int number = (int)rng_below(&rng, RECOUNT_IDS);
        bool was_held = messages[number].held;
        change(subject, &rng, &messages[number], number);
        arrived += !was_held && messages[number].held;
        subject_pass(subject, 100);
        if (step % 25 == 0)
            LIST(.letters = true); /* brings a fold about */
        if (step % 100 == 99 && subject->kind->durable)
            subject_reopen(subject);
        if (arrived > 0)
            compare(subject, messages, arrived);
    }
    subject_free(subject);
}

static void a_dlq_tells_ages_arrivals_and_what_was_spilled(void **state) {
    struct subject *subject = subject_new(*state);
    struct wall now = subject_now(subject).wall;
    const int64_t ages_ms[] = {30000, 300000, 1800000, 7200000, 72000000, 172800000};
    for (size_t i = 0; i < LETTERS_AGE_BUCKETS; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%zu", i);
        struct envelope letter = subject_letter(subject, id);
        letter.dead_at.ms = now.ms - ages_ms[i];
        subject_put(subject, &letter, "1", NULL);
    }
    struct store_op spill = {
        .kind = STORE_FORGET, .queue = subject->queue, .spilled_dlq = BYTES("orders.dlq")};
    assert_int_equal(subject_commit(subject, &spill, 1), STATUS_OK);
    struct letters_dlq dlq;
    assert_int_equal(
        letters_dlq(subject->store->letters, BYTES("orders.dlq"), now, &subject->arena, &dlq, NULL),
        STATUS_OK);
    for (size_t i = 0; i < LETTERS_AGE_BUCKETS; i++)
        assert_int_equal(dlq.ages[i], 1);
    assert_int_equal(dlq.arrivals_last_minute, 1);
    assert_int_equal(dlq.spilled, 1);
    assert_int_equal(dlq.arrived_count, 1);
    assert_int_equal(dlq.arrived[0].count, LETTERS_AGE_BUCKETS);
    assert_memory_equal(dlq.arrived[0].name.ptr, "bug\0missing_key", sizeof "bug\0missing_key" - 1);
    assert_int_equal(
        letters_dlq(subject->store->letters, BYTES("none"), now, &subject->arena, &dlq, NULL),
        STATUS_NOT_FOUND);
    struct bytes *names = NULL;
    size_t count;
    assert_int_equal(
        letters_dlq_names(subject->store->letters, &subject->arena, &names, &count, NULL),
        STATUS_OK);
    assert_int_equal(count, 1);
    assert_bytes(names[0], "orders.dlq");
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(lists_are_newest_first_and_filtered)                                                         \
    X(letters_of_a_cause_are_found_wherever_they_died)                                             \
    X(a_letter_is_found_by_what_a_late_answer_told)                                                \
    X(a_sum_counts_what_lists_show)                                                                \
    X(what_is_taken_is_listed_as_running_and_retrying)                                             \
    X(what_cannot_be_understood_is_refused)                                                        \
    X(pages_hold_still)                                                                            \
    X(pages_run_oldest_first)                                                                      \
    X(counters_equal_a_recount)                                                                    \
    X(a_dlq_tells_ages_arrivals_and_what_was_spilled)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
