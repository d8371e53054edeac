/* Renaming a queue, on the store kept in memory: what a kill in the middle of a rename leaves, and
 * what may not be moved. */
#include "triage/decide/queue_move.h"

#include "store/fake_store.h"
#include "test.h"

static struct store *store;
static struct triage triage;
static struct arena arena;
static struct err err;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1763182181123}, {1000}};
}
static struct clock test_clock = {.now = read_clock};

static int start(void **state) {
    (void)state;
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    arena_init_heap(&arena, 4096);
    return 0;
}

static int end(void **state) {
    (void)state;
    store->vtable->close(store);
    triage_free(&triage);
    arena_free(&arena);
    return 0;
}

static void put(const char *queue, const char *dlq, const char *id, const char *letter_id,
                enum state state) {
    struct envelope envelope = {.id = bytes_of(id),
                                .letter_id = letter_id ? bytes_of(letter_id) : BYTES_NONE,
                                .queue = bytes_of(queue),
                                .dlq = dlq ? bytes_of(dlq) : BYTES_NONE,
                                .state = state,
                                .content_type = BYTES("application/json"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1,
                                .created_at = {1763182181000},
                                .dead_at = {letter_id ? 1763182181000 : WALL_NEVER.ms}};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, bytes_of(queue)),
                          .envelope = &envelope,
                          .body = BYTES("1")};
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
}

static struct queue_moved rename_orders(void) {
    struct queue_moved moved;
    struct audit_entry entry = {
        .who = BYTES("ada"), .what = "queue.rename", .subject = BYTES("orders")};
    audit_begin(&triage, &entry);
    assert_int_equal(queue_move_rename(&triage, &entry, BYTES("prices"), &arena, &moved, &err),
                     STATUS_OK);
    return moved;
}

static void assert_held(const char *queue, const char *id, bool held) {
    struct message *found = NULL;
    assert_int_equal(letters_get(store->letters, bytes_of(queue), bytes_of(id), &found, &err),
                     held ? STATUS_OK : STATUS_NOT_FOUND);
    message_free(found);
}

/* The copy was durable, and the kill came before its original was forgotten. */
static void a_letter_that_a_kill_left_in_both_queues_is_in_the_new_one_alone(void **state) {
    (void)state;
    put("orders", "orders.dlq", "m-1", "l-1", STATE_PENDING_REVIEW);
    put("prices", "prices.dlq", "m-1", "l-1", STATE_PENDING_REVIEW);
    struct queue_moved moved = rename_orders();
    assert_int_equal(moved.letters, 1);
    assert_int_equal(moved.same_id.count, 0);
    assert_held("orders", "m-1", false);
    assert_held("prices", "m-1", true);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 0);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("prices.dlq")), 1);
}

static void an_id_that_a_decided_letter_has_is_free(void **state) {
    (void)state;
    put("prices", "prices.dlq", "m-1", "l-1", STATE_RESOLVED);
    put("orders", NULL, "m-1", NULL, STATE_QUEUED);
    struct queue_moved moved = rename_orders();
    assert_int_equal(moved.messages, 1);
    assert_held("orders", "m-1", false);
    assert_held("prices", "l-1", true);
    struct store_queue_counts counts;
    store->vtable->counts(store, store->vtable->queue_number(store, BYTES("prices")), &counts);
    assert_int_equal(counts.queued, 1);
}

static void a_message_moves_with_a_decided_letter_of_its_id(void **state) {
    (void)state;
    put("orders", "orders.dlq", "m-1", "l-1", STATE_RESOLVED);
    put("orders", NULL, "m-1", NULL, STATE_QUEUED);
    struct queue_moved moved = rename_orders();
    assert_int_equal(moved.messages, 1);
    assert_int_equal(moved.letters, 1);
    struct store_queue_counts counts;
    store->vtable->counts(store, store->vtable->queue_number(store, BYTES("prices")), &counts);
    assert_int_equal(counts.queued, 1);
}

static void what_is_being_replayed_stays_and_is_named(void **state) {
    (void)state;
    put("orders", "orders.dlq", "m-1", "l-1", STATE_REPLAYING);
    put("orders", NULL, "m-2", NULL, STATE_QUEUED);
    struct queue_moved moved = rename_orders();
    assert_int_equal(moved.messages, 1);
    assert_int_equal(moved.letters, 0);
    assert_int_equal(moved.busy.count, 1);
    assert_bytes(moved.busy.ids[0], "m-1");
    assert_held("orders", "m-1", true);
    assert_held("prices", "m-1", false);
}

/* ---- texts that are kept ---- */

static void keep(const char *queue, const char *space, const char *name, const char *value,
                 int64_t expires_ms) {
    struct store_op op = {.kind = STORE_KEEP,
                          .queue = store->vtable->queue_number(store, bytes_of(queue)),
                          .keep = {.space = space,
                                   .name = bytes_of(name),
                                   .value = bytes_of(value),
                                   .expires = {expires_ms}}};
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
}

/* Empty: nothing is kept at that time. */
static struct bytes kept(const char *queue, const char *space, const char *name, int64_t at_ms) {
    struct bytes value = BYTES("");
    letters_note(store->letters, store->vtable->queue_number(store, bytes_of(queue)), space,
                 bytes_of(name), (struct wall){at_ms}, &arena, &value, &err);
    return value;
}

static void keys_move_with_the_time_at_which_they_expire(void **state) {
    (void)state;
    const int64_t now = 1763182181123, day = INT64_C(86400000);
    keep("orders", SPACE_DONE, "k-1", "{\"id\":\"m-1\"}", now + day + 1);
    keep("orders", SPACE_DONE, "k-2", "{\"id\":\"m-2\"}", now + 1);
    keep("orders", SPACE_DONE, "k-3", "{\"id\":\"m-3\"}", WALL_NEVER.ms);
    rename_orders();
    assert_bytes(kept("prices", SPACE_DONE, "k-1", now + day), "{\"id\":\"m-1\"}");
    assert_bytes(kept("prices", SPACE_DONE, "k-1", now + day + 1001), "");
    assert_bytes(kept("prices", SPACE_DONE, "k-2", now), "{\"id\":\"m-2\"}");
    assert_bytes(kept("prices", SPACE_DONE, "k-2", now + 1001), "");
    assert_bytes(kept("prices", SPACE_DONE, "k-3", now + 10000 * day), "{\"id\":\"m-3\"}");
    assert_bytes(kept("orders", SPACE_DONE, "k-1", now), "");
}

static void a_key_of_both_queues_is_remembered_for_the_longer_time(void **state) {
    (void)state;
    const int64_t now = 1763182181123, hour = 3600000;
    keep("orders", SPACE_DONE, "k-1", "{\"id\":\"ours\"}", now + 2 * hour);
    keep("prices", SPACE_DONE, "k-1", "{\"id\":\"theirs\"}", now + hour);
    keep("orders", SPACE_DONE, "k-2", "{\"id\":\"ours\"}", now + hour);
    keep("prices", SPACE_DONE, "k-2", "{\"id\":\"theirs\"}", now + 2 * hour);
    rename_orders();
    assert_bytes(kept("prices", SPACE_DONE, "k-1", now + 2 * hour - 1), "{\"id\":\"theirs\"}");
    assert_bytes(kept("prices", SPACE_DONE, "k-2", now + 2 * hour - 1), "{\"id\":\"theirs\"}");
    assert_bytes(kept("orders", SPACE_DONE, "k-1", now), "");
}

static void answers_name_the_new_queue_and_none_is_overwritten(void **state) {
    (void)state;
    const int64_t now = 1763182181123;
    keep("orders", SPACE_RESULT, "m-1", "{\"id\":\"m-1\",\"queue\":\"orders\",\"body\":1.0}",
         now + 5000);
    keep("orders", SPACE_RESULT, "m-2", "{\"queue\":\"orders\",\"body\":2}", now + 5000);
    keep("prices", SPACE_RESULT, "m-2", "{\"queue\":\"prices\",\"body\":3}", now + 5000);
    rename_orders();
    assert_bytes(kept("prices", SPACE_RESULT, "m-1", now),
                 "{\"id\":\"m-1\",\"queue\":\"prices\",\"body\":1.0}");
    assert_bytes(kept("prices", SPACE_RESULT, "m-2", now), "{\"queue\":\"prices\",\"body\":3}");
    assert_bytes(kept("orders", SPACE_RESULT, "m-2", now), "{\"queue\":\"orders\",\"body\":2}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_letter_that_a_kill_left_in_both_queues_is_in_the_new_one_alone, start, end),
        cmocka_unit_test_setup_teardown(an_id_that_a_decided_letter_has_is_free, start, end),
        cmocka_unit_test_setup_teardown(a_message_moves_with_a_decided_letter_of_its_id, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_is_being_replayed_stays_and_is_named, start, end),
        cmocka_unit_test_setup_teardown(keys_move_with_the_time_at_which_they_expire, start, end),
        cmocka_unit_test_setup_teardown(a_key_of_both_queues_is_remembered_for_the_longer_time,
                                        start, end),
        cmocka_unit_test_setup_teardown(answers_name_the_new_queue_and_none_is_overwritten, start,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
