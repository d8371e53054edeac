/* What the store promises beside put, take and forget: texts that are kept, marks on letters,
 * changes that depend on a state, and leases. */
#include "store_subject.h"

#include "test.h"

static struct subject *begin(void **state) {
    return subject_new(*state);
}

/* ---- kept texts ---- */

static enum status keep_in(struct subject *subject, uint32_t queue, const char *space,
                           const char *name, const char *value, struct wall expires) {
    struct store_op op = {
        .kind = STORE_KEEP,
        .queue = queue,
        .keep = {
            .space = space, .name = bytes_of(name), .value = bytes_of(value), .expires = expires}};
    return subject_commit(subject, &op, 1);
}

static void keep(struct subject *subject, const char *name, const char *value) {
    assert_int_equal(keep_in(subject, subject->queue, SPACE_RESULT, name, value, (struct wall){0}),
                     STATUS_OK);
}

static enum status kept_in(struct subject *subject, uint32_t queue, const char *name,
                           struct bytes *value) {
    struct err err;
    return letters_note(subject->store->letters, queue, SPACE_RESULT, bytes_of(name),
                        subject_now(subject).wall, &subject->arena, value, &err);
}

static void assert_kept(struct subject *subject, const char *name, const char *value) {
    struct bytes found = BYTES_NONE;
    enum status status = kept_in(subject, subject->queue, name, &found);
    assert_int_equal(status, value ? STATUS_OK : STATUS_NOT_FOUND);
    if (value)
        assert_bytes(found, value);
}

static void fold(struct subject *subject) {
    subject_list(subject, &(struct letters_query){.limit = 1});
}

static void a_kept_text_is_found_until_it_is_dropped(void **state) {
    struct subject *subject = begin(state);
    assert_kept(subject, "a", NULL);
    keep(subject, "a", "one");
    assert_kept(subject, "a", "one");
    keep(subject, "a", "two");
    assert_kept(subject, "a", "two");
    keep(subject, "a", NULL);
    assert_kept(subject, "a", NULL);
    keep(subject, "empty", "");
    assert_kept(subject, "empty", "");
    subject_free(subject);
}

static void a_kept_text_is_the_same_before_and_after_the_fold(void **state) {
    struct subject *subject = begin(state);
    keep(subject, "a", "one");
    keep(subject, "b", "old");
    fold(subject);
    assert_kept(subject, "a", "one");
    keep(subject, "b", "new");
    assert_kept(subject, "b", "new");
    keep(subject, "a", NULL);
    assert_kept(subject, "a", NULL);
    fold(subject);
    assert_kept(subject, "a", NULL);
    assert_kept(subject, "b", "new");
    subject_free(subject);
}

static void an_expired_text_is_gone_at_once(void **state) {
    struct subject *subject = begin(state);
    struct wall expires = {subject_now(subject).wall.ms + 100};
    keep_in(subject, subject->queue, SPACE_RESULT, "memory", "x", expires);
    keep_in(subject, subject->queue, SPACE_RESULT, "file", "x", expires);
    fold(subject);
    keep_in(subject, subject->queue, SPACE_RESULT, "memory", "y", expires);
    subject_pass(subject, 99);
    assert_kept(subject, "memory", "y");
    assert_kept(subject, "file", "x");
    subject_pass(subject, 1);
    assert_kept(subject, "memory", NULL);
    assert_kept(subject, "file", NULL);
    subject_pass(subject, 3600 * 1000);
    keep(subject, "sweeps", "1");
    fold(subject);
    assert_kept(subject, "file", NULL);
    assert_kept(subject, "sweeps", "1");
    subject_free(subject);
}

static void spaces_and_queues_keep_the_same_name_apart(void **state) {
    struct subject *subject = begin(state);
    uint32_t other = subject->store->vtable->queue_number(subject->store, BYTES("refunds"));
    struct bytes value;
    keep(subject, "a", "orders");
    keep_in(subject, subject->queue, SPACE_DONE, "a", "done", WALL_NEVER);
    assert_int_equal(kept_in(subject, 0, "a", &value), STATUS_OK);
    assert_bytes(value, "orders");
    fold(subject);
    keep_in(subject, other, SPACE_RESULT, "a", "refunds", WALL_NEVER);
    assert_int_equal(kept_in(subject, 0, "a", &value), STATUS_CONFLICT);
    assert_int_equal(kept_in(subject, other, "a", &value), STATUS_OK);
    assert_bytes(value, "refunds");
    assert_kept(subject, "a", "orders");
    keep(subject, "a", NULL);
    assert_int_equal(kept_in(subject, 0, "a", &value), STATUS_OK);
    assert_bytes(value, "refunds");
    subject_free(subject);
}

static const char *names(struct subject *subject, const char *prefix, const char *after,
                         bool descending, size_t limit) {
    struct letters_note rows[16];
    struct err err;
    size_t count = 0;
    assert_int_equal(letters_notes(subject->store->letters, SPACE_AUDIT, bytes_of(prefix),
                                   bytes_of(after), descending, limit, &subject->arena, rows,
                                   &count, &err),
                     STATUS_OK);
    struct buf text;
    buf_init_heap(&text, 1 << 12);
    for (size_t i = 0; i < count; i++) {
        assert_true(bytes_eq(rows[i].name, rows[i].value)); /* each is kept under itself */
        buf_printf(&text, "%s%.*s", i ? " " : "", BYTES_ARG(rows[i].name));
    }
    const char *copy = arena_cstr(&subject->arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static void kept_texts_are_listed_by_name_from_memory_and_file(void **state) {
    struct subject *subject = begin(state);
    static const char *const folded[] = {"b1", "a1", "c1", "b3", "gone"};
    for (size_t i = 0; i < 5; i++)
        keep_in(subject, 0, SPACE_AUDIT, folded[i], folded[i], WALL_NEVER);
    fold(subject);
    static const char *const fresh[] = {"b2", "a0", "b3"};
    for (size_t i = 0; i < 3; i++)
        keep_in(subject, 0, SPACE_AUDIT, fresh[i], fresh[i], WALL_NEVER);
    keep_in(subject, 0, SPACE_AUDIT, "gone", NULL, WALL_NEVER);
    keep_in(subject, 0, SPACE_ALERT, "other space", "x", WALL_NEVER);
    assert_string_equal(names(subject, "", "", false, 16), "a0 a1 b1 b2 b3 c1");
    assert_string_equal(names(subject, "", "", true, 16), "c1 b3 b2 b1 a1 a0");
    assert_string_equal(names(subject, "b", "", false, 16), "b1 b2 b3");
    assert_string_equal(names(subject, "b", "", true, 2), "b3 b2");
    assert_string_equal(names(subject, "b", "b2", true, 16), "b1");
    assert_string_equal(names(subject, "", "a1", false, 2), "b1 b2");
    assert_string_equal(names(subject, "", "a", false, 1), "a0");
    assert_string_equal(names(subject, "\xff", "", true, 16), "");
    subject_free(subject);
}

static void what_is_kept_stands_or_falls_with_its_commit(void **state) {
    struct subject *subject = begin(state);
    struct store_op ops[] = {
        {.kind = STORE_KEEP,
         .queue = subject->queue,
         .keep = {.space = SPACE_RESULT, .name = BYTES("a"), .value = BYTES("1")}},
        {.kind = STORE_FORGET, .queue = subject->queue, .seq = 999},
    };
    assert_int_equal(subject_commit(subject, ops, 2), STATUS_NOT_FOUND);
    assert_kept(subject, "a", NULL);
    subject_free(subject);
}

/* ---- marks ---- */

static uint64_t put_letter(struct subject *subject, const char *id) {
    struct envelope letter = subject_letter(subject, id);
    uint64_t seq = 0;
    assert_int_equal(subject_put(subject, &letter, "body", &seq), STATUS_OK);
    return seq;
}

static struct store_op marking(struct subject *subject, uint64_t seq, enum state to) {
    return (struct store_op){
        .kind = STORE_MARK,
        .queue = subject->queue,
        .seq = seq,
        .mark = {.state = to, .at = subject_now(subject).wall, .why = BYTES("because")}};
}

static struct message *get(struct subject *subject, const char *id) {
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(subject->store->letters, BYTES_NONE, bytes_of(id), &held, &err),
                     STATUS_OK);
    return held;
}

static void assert_resolved(struct subject *subject, const char *id) {
    struct message *held = get(subject, id);
    assert_int_equal(held->envelope.state, STATE_RESOLVED);
    assert_int_equal(held->envelope.resolution, RESOLUTION_BY_HAND);
    assert_int_equal(held->envelope.resolved_at.ms, subject_now(subject).wall.ms);
    assert_int_equal(held->envelope.escalated_at.ms, subject_now(subject).wall.ms);
    assert_bytes(held->envelope.why, "because");
    assert_bytes(held->envelope.error_type, "KeyError");
    assert_bytes(held->body, "body");
    message_free(held);
}

static void resolve_escalated(struct subject *subject, uint64_t seq, bool fold_between) {
    struct store_op op = marking(subject, seq, STATE_PENDING_REVIEW);
    op.mark.escalated = true;
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    if (fold_between)
        fold(subject);
    op = marking(subject, seq, STATE_RESOLVED);
    op.mark.resolution = RESOLUTION_BY_HAND;
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
}

static void a_mark_changes_what_was_decided_and_nothing_else(void **state) {
    struct subject *subject = begin(state);
    uint64_t fresh = put_letter(subject, "fresh"), folded = put_letter(subject, "folded");
    const struct store_vtable *vtable = subject->store->vtable;
    resolve_escalated(subject, folded, true);
    resolve_escalated(subject, fresh, false);
    assert_resolved(subject, "fresh");
    assert_resolved(subject, "folded");
    assert_int_equal(vtable->dlq_depth(subject->store, BYTES("orders.dlq")), 0);
    assert_string_equal(
        subject_list(subject,
                     &(struct letters_query){.limit = 9, .states = 1u << STATE_PENDING_REVIEW}),
        "");
    assert_string_equal(
        subject_list(subject, &(struct letters_query){.limit = 9,
                                                      .escalated = LETTERS_YES,
                                                      .states = 1u << STATE_RESOLVED}),
        "folded fresh");
    assert_resolved(subject, "fresh");
    assert_resolved(subject, "folded");
    if (subject->kind->durable) {
        subject_reopen(subject);
        assert_resolved(subject, "fresh");
        assert_resolved(subject, "folded");
        assert_int_equal(subject->store->vtable->dlq_depth(subject->store, BYTES("orders.dlq")), 0);
    }
    subject_free(subject);
}

static void a_list_shows_what_was_marked(void **state) {
    struct subject *subject = begin(state);
    struct store_op op = marking(subject, put_letter(subject, "a"), STATE_DISCARDED);
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    struct letters_page page;
    struct envelope envelope;
    struct err err;
    struct letters_query query = {.limit = 1};
    assert_int_equal(letters_list(subject->store->letters, &query, &subject->arena, &page, &err),
                     STATUS_OK);
    assert_int_equal(page.count, 1);
    assert_int_equal(envelope_restore(page.rows[0].envelope, &subject->arena, &envelope, &err),
                     STATUS_OK);
    assert_int_equal(envelope.state, STATE_DISCARDED);
    assert_bytes(envelope.why, "because");
    subject_free(subject);
}

static void a_whole_envelope_replaces_what_was_marked(void **state) {
    struct subject *subject = begin(state);
    uint64_t seq = put_letter(subject, "a");
    struct store_op op = marking(subject, seq, STATE_PENDING_REVIEW);
    op.mark.escalated = true;
    subject_commit(subject, &op, 1);
    struct envelope letter = subject_letter(subject, "a");
    letter.state = STATE_REPLAYING;
    assert_int_equal(subject_update(subject, seq, &letter), STATUS_OK);
    fold(subject);
    struct message *held = get(subject, "a");
    assert_int_equal(held->envelope.state, STATE_REPLAYING);
    assert_int_equal(held->envelope.escalated_at.ms, 0);
    message_free(held);
    subject_free(subject);
}

static void a_mark_that_cannot_follow_is_refused(void **state) {
    struct subject *subject = begin(state);
    uint64_t seq = put_letter(subject, "a");
    struct store_op op = marking(subject, seq, STATE_RESOLVED);
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    op = marking(subject, seq, STATE_DISCARDED);
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_CONFLICT);
    subject_free(subject);
}

/* ---- only from some states ---- */

static void a_change_from_another_state_is_skipped(void **state) {
    struct subject *subject = begin(state);
    uint64_t open = put_letter(subject, "open"), closed = put_letter(subject, "closed");
    struct store_op close = marking(subject, closed, STATE_RESOLVED);
    subject_commit(subject, &close, 1);
    fold(subject);
    struct store_op ops[] = {marking(subject, open, STATE_DISCARDED),
                             marking(subject, closed, STATE_DISCARDED),
                             marking(subject, 12345, STATE_DISCARDED)};
    for (size_t i = 0; i < 3; i++)
        ops[i].from = 1u << STATE_PENDING_REVIEW;
    assert_int_equal(subject_commit(subject, ops, 3), STATUS_OK);
    assert_false(ops[0].skipped);
    assert_true(ops[1].skipped);
    assert_true(ops[2].skipped);
    struct message *held = get(subject, "closed");
    assert_int_equal(held->envelope.state, STATE_RESOLVED);
    message_free(held);
    subject_free(subject);
}

static void a_second_change_of_the_same_letter_is_skipped(void **state) {
    struct subject *subject = begin(state);
    uint64_t seq = put_letter(subject, "a");
    struct envelope letter = subject_letter(subject, "a");
    letter.state = STATE_REPLAYING;
    struct store_op ops[] = {{.kind = STORE_UPDATE,
                              .queue = subject->queue,
                              .seq = seq,
                              .envelope = &letter,
                              .from = 1u << STATE_PENDING_REVIEW},
                             marking(subject, seq, STATE_DISCARDED),
                             {.kind = STORE_FORGET, .queue = subject->queue, .seq = seq}};
    ops[1].from = ops[2].from = 1u << STATE_PENDING_REVIEW;
    assert_int_equal(subject_commit(subject, ops, 3), STATUS_OK);
    assert_false(ops[0].skipped);
    assert_true(ops[1].skipped);
    assert_true(ops[2].skipped);
    struct message *held = get(subject, "a");
    assert_int_equal(held->envelope.state, STATE_REPLAYING);
    message_free(held);
    subject_free(subject);
}

static void a_letter_in_the_engines_hands_is_left_alone(void **state) {
    struct subject *subject = begin(state);
    uint64_t seq = put_letter(subject, "a");
    struct envelope letter = subject_letter(subject, "a");
    letter.state = STATE_REPLAYING;
    subject_update(subject, seq, &letter);
    message_free(subject_take(subject, TAKE_DUE));
    struct store_op op = marking(subject, seq, STATE_DISCARDED);
    op.from = 1u << STATE_REPLAYING | 1u << STATE_PENDING_REVIEW;
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    assert_true(op.skipped);
    letter.state = STATE_PENDING_REVIEW;
    subject_update(subject, seq, &letter);
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    assert_false(op.skipped);
    subject_free(subject);
}

/* ---- one by number, and leases ---- */

static void one_that_waits_is_taken_by_its_number(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t ready = 0, delayed = 0;
    subject_put(subject, &envelope, "1", &ready);
    envelope = subject_envelope(subject, "b");
    envelope.delay_ms = 5000;
    envelope.next_attempt_at.ms = subject_now(subject).wall.ms + 5000;
    subject_put(subject, &envelope, "2", &delayed);
    const struct store_vtable *vtable = subject->store->vtable;
    struct message *held = vtable->take_one(subject->store, subject->queue, delayed);
    assert_non_null(held);
    assert_bytes(held->body, "2");
    message_free(held);
    assert_null(vtable->take_one(subject->store, subject->queue, delayed));
    assert_null(vtable->take_one(subject->store, subject->queue, put_letter(subject, "letter")));
    assert_null(vtable->take_one(subject->store, subject->queue, 999));
    held = vtable->take_one(subject->store, subject->queue, ready);
    assert_non_null(held);
    message_free(held);
    subject_free(subject);
}

static void what_is_leased_stays_taken(void **state) {
    struct subject *subject = begin(state);
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    struct store_queue_counts counts;
    subject_put(subject, &envelope, "1", &seq);
    message_free(subject_take(subject, TAKE_READY));
    envelope.lease = 7;
    envelope.lease_ms = 30000;
    assert_int_equal(subject_update(subject, seq, &envelope), STATUS_OK);
    assert_null(subject_take(subject, TAKE_READY));
    assert_null(subject_take(subject, TAKE_LEASED));
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    assert_int_equal(counts.taken, 1);
    assert_int_equal(counts.queued, 0);
    assert_string_equal(
        subject_list(subject, &(struct letters_query){.limit = 9, .states = 1u << STATE_RUNNING}),
        "a");
    envelope.lease_ms = 0;
    envelope.state = STATE_PENDING_RETRY;
    assert_int_equal(subject_update(subject, seq, &envelope), STATUS_OK);
    struct message *held = subject_take(subject, TAKE_DUE);
    assert_non_null(held);
    message_free(held);
    subject_free(subject);
}

static void what_was_leased_is_taken_once_after_opening(void **state) {
    struct subject *subject = begin(state);
    if (!subject->kind->durable) {
        subject_free(subject);
        skip();
    }
    struct envelope envelope = subject_envelope(subject, "a");
    uint64_t seq = 0;
    struct store_queue_counts counts;
    subject_put(subject, &envelope, "1", &seq);
    message_free(subject_take(subject, TAKE_READY));
    envelope.lease = 7;
    envelope.lease_ms = 30000;
    subject_update(subject, seq, &envelope);
    subject_reopen(subject);
    assert_null(subject_take(subject, TAKE_READY));
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    assert_int_equal(counts.taken, 1);
    assert_string_equal(
        subject_list(subject, &(struct letters_query){.limit = 9, .states = 1u << STATE_RUNNING}),
        "a");
    struct message *held = subject_take(subject, TAKE_LEASED);
    assert_non_null(held);
    assert_int_equal(held->envelope.state, STATE_RUNNING);
    assert_int_equal(held->envelope.lease, 7);
    assert_null(subject_take(subject, TAKE_LEASED));
    subject->store->vtable->give_back(subject->store, held, subject_now(subject).mono);
    held = subject_take(subject, TAKE_READY);
    assert_non_null(held);
    message_free(held);
    subject_free(subject);
}

/* ---- by number ---- */

static void assert_by_number(struct subject *subject, uint64_t seq, const char *id) {
    struct message *held = NULL;
    struct err err;
    enum status status = letters_get_seq(subject->store->letters, seq, &held, &err);
    assert_int_equal(status, id ? STATUS_OK : STATUS_NOT_FOUND);
    if (!id)
        return;
    assert_bytes(held->envelope.id, id);
    message_free(held);
}

static void a_message_is_read_by_its_number_in_any_state(void **state) {
    struct subject *subject = begin(state);
    uint64_t letter = put_letter(subject, "letter"), gone = put_letter(subject, "gone");
    uint64_t live;
    struct envelope queued = subject_envelope(subject, "live");
    assert_int_equal(subject_put(subject, &queued, "1", &live), STATUS_OK);
    assert_by_number(subject, letter, "letter");
    assert_by_number(subject, live, "live");
    assert_by_number(subject, 12345, NULL);
    fold(subject);
    assert_by_number(subject, letter, "letter");
    struct store_op op = marking(subject, letter, STATE_RESOLVED);
    assert_int_equal(subject_commit(subject, &op, 1), STATUS_OK);
    assert_by_number(subject, letter, "letter");
    assert_int_equal(subject_forget(subject, gone), STATUS_OK);
    assert_by_number(subject, gone, NULL);
    fold(subject);
    assert_by_number(subject, gone, NULL);
    subject_free(subject);
}

#define EVERY(X)                                                                                   \
    X(a_kept_text_is_found_until_it_is_dropped)                                                    \
    X(a_kept_text_is_the_same_before_and_after_the_fold)                                           \
    X(an_expired_text_is_gone_at_once)                                                             \
    X(spaces_and_queues_keep_the_same_name_apart)                                                  \
    X(kept_texts_are_listed_by_name_from_memory_and_file)                                          \
    X(what_is_kept_stands_or_falls_with_its_commit)                                                \
    X(a_mark_changes_what_was_decided_and_nothing_else)                                            \
    X(a_list_shows_what_was_marked)                                                                \
    X(a_whole_envelope_replaces_what_was_marked)                                                   \
    X(a_mark_that_cannot_follow_is_refused)                                                        \
    X(a_change_from_another_state_is_skipped)                                                      \
    X(a_second_change_of_the_same_letter_is_skipped)                                               \
    X(a_letter_in_the_engines_hands_is_left_alone)                                                 \
    X(one_that_waits_is_taken_by_its_number)                                                       \
    X(what_is_leased_stays_taken)                                                                  \
    X(what_was_leased_is_taken_once_after_opening)                                                 \
    X(a_message_is_read_by_its_number_in_any_state)

int main(void) {
    static const struct CMUnitTest tests[] = {EVERY(SUBJECT_ROW)};
    return subject_run(tests, sizeof tests / sizeof *tests);
}
