/* A store that filled its disk: what frees space goes through, everything else waits for room. On a
 * simulated disk of a few MiB. */
#include <stdio.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum {
    SEGMENT_BYTES = 1 << 20,
    PACK_BYTES = 1 << 20,
    CAPACITY = 16 << 20,
    BODY_BYTES = 64 << 10,
    LETTERS_MAX = 1000,
    CALLS_AROUND = 40, /* of the disk, before a store is full */
};

struct yard {
    struct clock clock;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct sqlite_store_options options;
    struct store *store;
    uint64_t seqs[LETTERS_MAX];
    int count;
};

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static void open_yard(struct yard *yard) {
    struct err err = {0};
    if (sqlite_store_open(&yard->options, &yard->store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
}

static struct yard *yard_new(void) {
    struct yard *yard = calloc(1, sizeof *yard);
    yard->clock.now = read_clock;
    yard->disk = sim_disk_new(1);
    yard->vfs = sim_vfs_new(yard->disk, 1);
    yard->options = (struct sqlite_store_options){.path = "impound.db",
                                                  .disk = sim_disk_port(yard->disk),
                                                  .vfs = SIM_VFS_NAME,
                                                  .clock = &yard->clock,
                                                  .journal_segment_bytes = SEGMENT_BYTES,
                                                  .journal_max_bytes = 8 * SEGMENT_BYTES,
                                                  .pack_bytes = PACK_BYTES};
    sim_disk_set_capacity(yard->disk, CAPACITY);
    open_yard(yard);
    return yard;
}

/* The machine dies, and the store is opened again. */
static void crash(struct yard *yard) {
    sqlite_store_crash(yard->store);
    sim_disk_crash(yard->disk);
    sim_disk_crash_at(yard->disk, 0);
    open_yard(yard);
}

static void yard_free(struct yard *yard) {
    yard->store->vtable->close(yard->store);
    sim_vfs_free(yard->vfs);
    sim_disk_free(yard->disk);
    free(yard);
}

static void note_status(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static enum status commit_one(struct yard *yard, struct store_op *op) {
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = op, .count = 1, .done = note_status, .arg = &status};
    op->queue = yard->store->vtable->queue_number(yard->store, BYTES("orders"));
    yard->store->vtable->submit(yard->store, &commit);
    sqlite_store_step(yard->store);
    return status;
}

static enum status put(struct yard *yard) {
    char id[16], letter[16];
    static char body[BODY_BYTES];
    snprintf(id, sizeof id, "m%d", yard->count);
    snprintf(letter, sizeof letter, "L%d", yard->count);
    memset(body, 'x', sizeof body);
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .letter_id = bytes_of(letter),
                                .dlq = BYTES("orders.dlq"),
                                .category = BYTES("bug"),
                                .reason = BYTES("r"),
                                .state = STATE_PENDING_REVIEW,
                                .dead_at = {1700000000000},
                                .created_at = {1700000000000},
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    struct store_op op = {
        .kind = STORE_PUT, .envelope = &envelope, .body = {body, sizeof body}, .check_id = true};
    enum status status = commit_one(yard, &op);
    if (status == STATUS_OK)
        yard->seqs[yard->count++] = op.seq;
    return status;
}

static enum status fill(struct yard *yard) {
    enum status status = STATUS_OK;
    while (status == STATUS_OK && yard->count < LETTERS_MAX) {
        status = put(yard);
        sqlite_store_fold(yard->store);
    }
    return status;
}

static bool is_full(struct yard *yard) {
    struct store_health health;
    yard->store->vtable->health(yard->store, &health);
    assert_true(health.writable || strstr(health.trouble.text, "the disk is full"));
    assert_int_equal(store_gauge_value(&health, "impound_store_reserve_bytes"),
                     health.writable ? SEGMENT_BYTES : 0);
    return !health.writable;
}

static enum status discard(struct yard *yard, uint64_t seq) {
    struct store_op op = {
        .kind = STORE_MARK, .seq = seq, .mark = {.state = STATE_DISCARDED, .at = {1700000000000}}};
    return commit_one(yard, &op);
}

static enum status forget(struct yard *yard, uint64_t seq) {
    struct store_op op = {.kind = STORE_FORGET, .seq = seq};
    return commit_one(yard, &op);
}

static void a_disk_that_the_store_filled_is_freed_through_it(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    assert_false(is_full(yard));
    assert_true(sim_disk_exists(yard->disk, "impound.db.d/reserve"));
    assert_int_equal(fill(yard), STATUS_FULL);
    assert_true(is_full(yard));
    assert_false(sim_disk_exists(yard->disk, "impound.db.d/reserve"));
    assert_int_equal(put(yard), STATUS_FULL);
    assert_int_equal(discard(yard, yard->seqs[0]), STATUS_OK);
    for (int i = 0; i < yard->count; i++)
        assert_int_equal(forget(yard, yard->seqs[i]), STATUS_OK);
    for (int i = 0; i < 4; i++) /* packs go after the fold that used them last */
        sqlite_store_fold(yard->store);
    assert_false(is_full(yard));
    assert_true(sim_disk_exists(yard->disk, "impound.db.d/reserve"));
    assert_int_equal(put(yard), STATUS_OK);
    yard_free(yard);
}

static void a_store_opens_and_is_freed_on_a_disk_that_is_full(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    assert_int_equal(fill(yard), STATUS_FULL);
    crash(yard);
    assert_true(is_full(yard));
    assert_int_equal(put(yard), STATUS_FULL);
    for (int i = 0; i < yard->count; i++)
        assert_int_equal(forget(yard, yard->seqs[i]), STATUS_OK);
    for (int i = 0; i < 4; i++)
        sqlite_store_fold(yard->store);
    assert_false(is_full(yard));
    yard_free(yard);
}

static void room_from_elsewhere_brings_the_reserve_back(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    assert_int_equal(fill(yard), STATUS_FULL);
    sim_disk_set_capacity(yard->disk, 2 * CAPACITY);
    sqlite_store_fold(yard->store);
    assert_false(is_full(yard));
    assert_int_equal(put(yard), STATUS_OK);
    yard_free(yard);
}

static void assert_all_held(struct yard *yard) {
    for (int i = 0; i < yard->count; i++) {
        struct message *held = NULL;
        struct err err = {0};
        if (letters_get_seq(yard->store->letters, yard->seqs[i], &held, &err) != STATUS_OK)
            fail_msg("letter %d of %d: %s", i, yard->count, err.text);
        assert_int_equal(held->body.len, BODY_BYTES);
        message_free(held);
    }
}

/* What was acknowledged is there, no trial is left on the disk, and the store can be freed. */
static void assert_sound_and_freed(struct yard *yard) {
    assert_all_held(yard);
    assert_false(sim_disk_exists(yard->disk, "impound.db.d/reserve.tmp"));
    assert_int_equal(sim_disk_exists(yard->disk, "impound.db.d/reserve"), !is_full(yard));
    for (int i = 0; i < yard->count; i++)
        assert_int_equal(forget(yard, yard->seqs[i]), STATUS_OK);
    for (int i = 0; i < 4; i++)
        sqlite_store_fold(yard->store);
    assert_false(is_full(yard));
    assert_int_equal(put(yard), STATUS_OK);
}

/* At each of the last calls before the store is full, among them the removal of the reserve, and
 * at each of the first behind that. */
static void a_kill_while_the_reserve_is_given_up_loses_nothing(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    uint64_t before = sim_disk_calls(yard->disk);
    assert_int_equal(fill(yard), STATUS_FULL);
    uint64_t calls = sim_disk_calls(yard->disk) - before;
    yard_free(yard);
    assert_true(calls > CALLS_AROUND);
    for (uint64_t at = calls - CALLS_AROUND; at <= calls; at++) {
        yard = yard_new();
        sim_disk_crash_at(yard->disk, at);
        (void)fill(yard);
        assert_true(sim_disk_is_dead(yard->disk));
        crash(yard);
        assert_sound_and_freed(yard);
        yard_free(yard);
    }
}

static void a_kill_while_the_reserve_is_made_again_loses_nothing(void **state) {
    (void)state;
    bool died = true;
    for (uint64_t at = 1; died; at++) {
        struct yard *yard = yard_new();
        assert_int_equal(fill(yard), STATUS_FULL);
        sim_disk_set_capacity(yard->disk, 2 * CAPACITY);
        sim_disk_crash_at(yard->disk, at);
        sqlite_store_fold(yard->store);
        died = sim_disk_is_dead(yard->disk);
        assert_true(died || at > 4); /* the trial made and removed, the reserve made */
        crash(yard);
        assert_sound_and_freed(yard);
        yard_free(yard);
    }
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_the_store_filled_is_freed_through_it),
        cmocka_unit_test(a_store_opens_and_is_freed_on_a_disk_that_is_full),
        cmocka_unit_test(room_from_elsewhere_brings_the_reserve_back),
        cmocka_unit_test(a_kill_while_the_reserve_is_given_up_loses_nothing),
        cmocka_unit_test(a_kill_while_the_reserve_is_made_again_loses_nothing),
    };
    return cmocka_run_group_tests_name("reserve", tests, NULL, NULL);
}
