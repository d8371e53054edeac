/* The small parts of the tables: ages, records, and what becomes of ids when a commit fails. */
#include "store/tables/counters/ages.h"
#include "store/fake_store.h"
#include "store/tables/journal_record.h"
#include "test.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static void young_letters_are_counted_to_the_second(void **state) {
    (void)state;
    struct ages ages = {0};
    for (int64_t i = 0; i < 100; i++)
        ages_add(&ages, HOUR_MS + i * 1000);
    assert_int_equal(ages_after(&ages, HOUR_MS + 89 * 1000), 10);
    ages_remove(&ages, HOUR_MS + 95 * 1000);
    assert_int_equal(ages_after(&ages, HOUR_MS + 89 * 1000), 9);
    assert_int_equal(ages_oldest(&ages).ms, HOUR_MS);
    ages_free(&ages);
}

static void a_long_history_stays_small_and_whole(void **state) {
    (void)state;
    struct ages ages = {0};
    const int64_t letters = 200000; /* one a second for more than two days */
    for (int64_t i = 0; i < letters; i++)
        ages_add(&ages, i * 1000);
    assert_true(ages.count < 10000);
    assert_int_equal(ages_after(&ages, -1), letters);
    for (int64_t i = 0; i < letters; i++)
        ages_remove(&ages, i * 1000);
    assert_int_equal(ages_after(&ages, -1), 0);
    assert_int_equal(ages_oldest(&ages).ms, WALL_NEVER.ms);
    ages_free(&ages);
}

static void a_month_of_letters_takes_few_spans_and_none_overlap(void **state) {
    (void)state;
    struct ages ages = {0};
    const int64_t step_ms = 7777, until_ms = INT64_C(30) * 24 * HOUR_MS;
    uint64_t letters = 0, last_day = 0;
    for (int64_t at = 0; at < until_ms; at += step_ms, letters++)
        ages_add(&ages, at);
    for (int64_t at = 0; at < until_ms; at += step_ms)
        last_day += at > until_ms - 24 * HOUR_MS;
    assert_true(ages.count < 8192);
    for (size_t i = 1; i < ages.count; i++)
        assert_true(ages.spans[i - 1].end_ms <= ages.spans[i].start_ms);
    assert_int_equal(ages_after(&ages, -1), letters);
    uint64_t within = ages_after(&ages, until_ms - 24 * HOUR_MS);
    assert_in_range(within, last_day - AGES_COARSE_SPAN_MS / step_ms - 1, last_day);
    for (int64_t at = 0; at < until_ms; at += step_ms)
        ages_remove(&ages, at);
    assert_int_equal(ages_after(&ages, -1), 0);
    ages_free(&ages);
}

static void a_record_is_read_as_it_was_written(void **state) {
    (void)state;
    struct journal_record record = {.kind = JOURNAL_RECORD_PUT,
                                    .queue = 0x01020304,
                                    .text = BYTES("{}"),
                                    .body = BYTES("body")};
    struct blob *blob = journal_record_encode(&record);
    journal_record_set_seq(blob, UINT64_C(0x1122334455667788));
    struct journal_record seen;
    assert_true(journal_record_decode((struct bytes){blob->data, blob->len}, &seen));
    assert_int_equal(seen.kind, JOURNAL_RECORD_PUT);
    assert_int_equal(seen.queue, 0x01020304);
    assert_int_equal(seen.seq, UINT64_C(0x1122334455667788));
    assert_bytes(seen.text, "{}");
    assert_bytes(seen.body, "body");
    assert_int_equal((unsigned char)blob->data[8], 0x88); /* little-endian, as docs/store.md says */
    for (size_t len = 0; len < 22; len++)
        assert_false(journal_record_decode((struct bytes){blob->data, len}, &seen));
    blob->data[0] = 99;
    assert_false(journal_record_decode((struct bytes){blob->data, blob->len}, &seen));
    blob_free(blob);
}

static void no_body_and_an_empty_body_are_different(void **state) {
    (void)state;
    struct journal_record seen;
    struct blob *none = journal_record_encode(
        &(struct journal_record){.kind = JOURNAL_RECORD_UPDATE, .text = BYTES("{}")});
    struct blob *empty = journal_record_encode(&(struct journal_record){
        .kind = JOURNAL_RECORD_UPDATE, .text = BYTES("{}"), .body = BYTES("")});
    assert_true(journal_record_decode((struct bytes){none->data, none->len}, &seen));
    assert_null(seen.body.ptr);
    assert_true(journal_record_decode((struct bytes){empty->data, empty->len}, &seen));
    assert_non_null(seen.body.ptr);
    blob_free(none);
    blob_free(empty);
}

/* ---- failing commits ---- */

static void note(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

struct push {
    struct envelope envelope;
    struct store_op op;
    struct store_commit commit;
    enum status status;
};

static void submit(struct store *store, struct push *push, const char *id) {
    *push = (struct push){.status = STATUS_INTERNAL};
    push->envelope.id = bytes_of(id);
    push->envelope.queue = BYTES("orders");
    push->envelope.source = BYTES("{\"kind\":\"builtin\"}");
    push->envelope.retry_after_ms = -1;
    push->op = (struct store_op){.kind = STORE_PUT,
                                 .queue = store->vtable->queue_number(store, BYTES("orders")),
                                 .envelope = &push->envelope,
                                 .check_id = true};
    push->commit =
        (struct store_commit){.ops = &push->op, .count = 1, .done = note, .arg = &push->status};
    store->vtable->submit(store, &push->commit);
}

static void a_duplicate_of_a_put_that_fails_fails_too(void **state) {
    (void)state;
    struct store *store = fake_store_new(false);
    struct push first, second, other, third;
    submit(store, &first, "a");
    submit(store, &second, "a");
    submit(store, &other, "b");
    assert_true(second.op.duplicate);
    fake_store_fail(store, STATUS_IO, 1);
    fake_store_step(store);
    assert_int_equal(first.status, STATUS_IO);
    assert_int_equal(second.status, STATUS_IO);
    assert_int_equal(other.status, STATUS_OK);
    submit(store, &third, "a");
    assert_false(third.op.duplicate);
    fake_store_step(store);
    assert_int_equal(third.status, STATUS_OK);
    store->vtable->close(store);
}

static void a_duplicate_waits_for_the_original(void **state) {
    (void)state;
    struct store *store = fake_store_new(false);
    struct push first, second;
    submit(store, &first, "a");
    submit(store, &second, "a");
    assert_int_equal(second.status, STATUS_INTERNAL);
    fake_store_step(store);
    assert_int_equal(first.status, STATUS_OK);
    assert_int_equal(second.status, STATUS_OK);
    assert_int_equal(second.op.seq, first.op.seq);
    store->vtable->close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_month_of_letters_takes_few_spans_and_none_overlap),
        cmocka_unit_test(young_letters_are_counted_to_the_second),
        cmocka_unit_test(a_long_history_stays_small_and_whole),
        cmocka_unit_test(a_record_is_read_as_it_was_written),
        cmocka_unit_test(no_body_and_an_empty_body_are_different),
        cmocka_unit_test(a_duplicate_of_a_put_that_fails_fails_too),
        cmocka_unit_test(a_duplicate_waits_for_the_original),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
