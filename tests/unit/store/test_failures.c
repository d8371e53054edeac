/* What the embedded store says when the disk refuses, and that it goes on when the disk does. */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum { SEGMENT_BYTES = 32 << 10, JOURNAL_BYTES = 4 * SEGMENT_BYTES };

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static struct clock frozen = {.now = read_clock};

static void note(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static struct store *open_store(struct sim_disk *disk) {
    struct sqlite_store_options options = {.path = "impound.db",
                                           .disk = sim_disk_port(disk),
                                           .vfs = SIM_VFS_NAME,
                                           .clock = &frozen,
                                           .journal_segment_bytes = SEGMENT_BYTES,
                                           .journal_max_bytes = JOURNAL_BYTES};
    struct store *store = NULL;
    struct err err = {0};
    if (sqlite_store_open(&options, &store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    return store;
}

struct push {
    struct store_commit commit;
    struct store_op op;
    enum status status;
};

static void submit(struct store *store, const char *id, struct push *push) {
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    static char body[4000];
    push->op = (struct store_op){.kind = STORE_PUT,
                                 .queue = store->vtable->queue_number(store, BYTES("orders")),
                                 .envelope = &envelope,
                                 .body = {body, sizeof body},
                                 .check_id = true};
    push->status = STATUS_INTERNAL;
    push->commit =
        (struct store_commit){.ops = &push->op, .count = 1, .done = note, .arg = &push->status};
    store->vtable->submit(store, &push->commit);
}

static enum status put(struct store *store, const char *id, bool *duplicate) {
    struct push push;
    submit(store, id, &push);
    sqlite_store_step(store);
    if (duplicate)
        *duplicate = push.op.duplicate;
    return push.status;
}

static void a_refused_commit_leaves_nothing_and_can_be_made_again(void **state) {
    (void)state;
    struct sim_disk *disk = sim_disk_new(1);
    struct sim_vfs *vfs = sim_vfs_new(disk, 1);
    struct store *store = open_store(disk);
    assert_int_equal(put(store, "first", NULL), STATUS_OK);
    sim_disk_fail_after(disk, 0, 1, EIO);
    assert_int_equal(put(store, "a", NULL), STATUS_IO);
    struct store_health health;
    store->vtable->health(store, &health);
    assert_false(health.writable);
    assert_int_not_equal(strlen(health.trouble.text), 0);
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("a"), &held, &err),
                     STATUS_NOT_FOUND);
    bool duplicate = true;
    assert_int_equal(put(store, "a", &duplicate), STATUS_OK);
    assert_false(duplicate);
    store->vtable->health(store, &health);
    assert_true(health.writable);
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

/* Each life begins a segment of its own and is too short for a fold of its own accord; some end
 * just after one, with nothing left to fold. */
static void many_short_lives_do_not_fill_the_journal(void **state) {
    (void)state;
    enum { LIVES = 40 }; /* ten times the bound */
    struct sim_disk *disk = sim_disk_new(1);
    struct sim_vfs *vfs = sim_vfs_new(disk, 1);
    for (int life = 0; life < LIVES; life++) {
        char id[16];
        struct store *store = open_store(disk);
        snprintf(id, sizeof id, "m-%d", life);
        assert_int_equal(put(store, id, NULL), STATUS_OK);
        if (life % 3 == 0)
            sqlite_store_fold(store);
        sqlite_store_crash(store);
        sim_disk_crash(disk);
    }
    struct store *store = open_store(disk);
    struct store_queue_counts counts;
    store->vtable->counts(store, store->vtable->queue_number(store, BYTES("orders")), &counts);
    assert_int_equal(counts.queued, LIVES);
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

static void who_comes_together_is_not_refused_for_the_size_of_all(void **state) {
    (void)state;
    enum { PUSHES = 20 }; /* twice what a segment takes */
    struct sim_disk *disk = sim_disk_new(1);
    struct sim_vfs *vfs = sim_vfs_new(disk, 1);
    struct store *store = open_store(disk);
    struct push pushes[PUSHES];
    for (int i = 0; i < PUSHES; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        submit(store, id, &pushes[i]);
    }
    sqlite_store_step(store);
    for (int i = 0; i < PUSHES; i++)
        assert_int_equal(pushes[i].status, STATUS_OK);
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

static void a_journal_at_its_bound_is_folded_and_goes_on(void **state) {
    (void)state;
    struct sim_disk *disk = sim_disk_new(1);
    struct sim_vfs *vfs = sim_vfs_new(disk, 1);
    struct store *store = open_store(disk);
    enum { MESSAGES = 200 }; /* several times the bound */
    for (int i = 0; i < MESSAGES; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        assert_int_equal(put(store, id, NULL), STATUS_OK);
    }
    struct store_health health;
    store->vtable->health(store, &health);
    assert_true(store_gauge_value(&health, "impound_store_journal_bytes") <= JOURNAL_BYTES);
    struct store_queue_counts counts;
    store->vtable->counts(store, 1, &counts);
    assert_int_equal(counts.queued, MESSAGES);
    store->vtable->close(store);
    store = open_store(disk);
    store->vtable->counts(store, 1, &counts);
    assert_int_equal(counts.queued, MESSAGES);
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

/* Between a commit that found no room and its question for some. */
static void room_that_a_fold_made_meanwhile_counts(void **state) {
    (void)state;
    struct sim_disk *disk = sim_disk_new(1);
    struct sim_vfs *vfs = sim_vfs_new(disk, 1);
    struct store *store = open_store(disk);
    assert_int_equal(put(store, "first", NULL), STATUS_OK);
    uint64_t before = fold_end(store_internal_of(store));
    sqlite_store_fold(store);
    assert_true(fold_make_room(store_internal_of(store), before));
    assert_false(fold_make_room(store_internal_of(store), fold_end(store_internal_of(store))));
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

/* A sync that fails may have let go of what was written before it, whoever wrote that. */
static void live_through_a_failed_call(uint64_t seed, uint64_t call) {
    enum { BEFORE = 3, AFTER = 17 }; /* the journal uses its first segment again */
    struct sim_disk *disk = sim_disk_new(seed);
    struct sim_vfs *vfs = sim_vfs_new(disk, seed);
    struct store *store = open_store(disk);
    for (int i = 0; i < BEFORE + AFTER; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        assert_int_equal(put(store, id, NULL), STATUS_OK);
        if (i == BEFORE)
            sim_disk_fail_after(disk, call, 1, EIO);
        sqlite_store_fold(store);
        sim_disk_fail_after(disk, 0, 0, EIO);
    }
    sqlite_store_fold(store);
    sqlite_store_crash(store);
    sim_disk_crash(disk);
    store = open_store(disk);
    struct store_queue_counts counts;
    store->vtable->counts(store, store->vtable->queue_number(store, BYTES("orders")), &counts);
    assert_int_equal(counts.queued, BEFORE + AFTER);
    store->vtable->close(store);
    sim_vfs_free(vfs);
    sim_disk_free(disk);
}

static void a_fold_that_fails_takes_none_that_follow_with_it(void **state) {
    (void)state;
    enum { SEEDS = 5, CALLS = 40 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (uint64_t call = 0; call < CALLS; call++)
            live_through_a_failed_call(seed, call);
    }
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_commit_leaves_nothing_and_can_be_made_again),
        cmocka_unit_test(many_short_lives_do_not_fill_the_journal),
        cmocka_unit_test(who_comes_together_is_not_refused_for_the_size_of_all),
        cmocka_unit_test(a_journal_at_its_bound_is_folded_and_goes_on),
        cmocka_unit_test(room_that_a_fold_made_meanwhile_counts),
        cmocka_unit_test(a_fold_that_fails_takes_none_that_follow_with_it),
    };
    return cmocka_run_group_tests_name("store failures", tests, NULL, NULL);
}
