/* doctor --repair where the SQLite file is lost or malformed: a new one comes from the packs, with
 * what the journal still knows on top. On a simulated disk. */
#include <stdio.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum {
    LETTERS = 4,
    ROUNDS = 24,
    SEGMENT_BYTES = 16 << 10,
    SEGMENTS = 4,
    PACK_BYTES = 8 << 10,
    ONE_PACK_BYTES = 1 << 20, /* holds everything */
    CRASHES_MAX = 200,
    FIRST_PAGES = 16,
};

struct ward {
    struct clock clock;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct sqlite_store_options options;
    struct store *store;
    struct buf report;
};

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static void open_ward(struct ward *ward) {
    struct err err = {0};
    if (sqlite_store_open(&ward->options, &ward->store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
}

static void remember(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static uint64_t commit(struct ward *ward, struct store_op op) {
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = &op, .count = 1, .done = remember, .arg = &status};
    ward->store->vtable->submit(ward->store, &commit);
    sqlite_store_step(ward->store);
    assert_int_equal(status, STATUS_OK);
    return op.seq;
}

static uint64_t put(struct ward *ward, const char *queue, const char *id, bool dead) {
    char letter[16];
    snprintf(letter, sizeof letter, "L-%s", id);
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = bytes_of(queue),
                                .state = dead ? STATE_PENDING_REVIEW : STATE_QUEUED,
                                .created_at = {1700000000000},
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    if (dead) {
        envelope.letter_id = bytes_of(letter);
        envelope.dlq = BYTES("orders.dlq");
        envelope.category = BYTES("bug");
        envelope.reason = BYTES("r");
        envelope.dead_at = envelope.created_at;
    }
    uint32_t number = ward->store->vtable->queue_number(ward->store, bytes_of(queue));
    return commit(
        ward, (struct store_op){
                  .kind = STORE_PUT, .queue = number, .envelope = &envelope, .body = bytes_of(id)});
}

static void forget(struct ward *ward, const char *queue, uint64_t seq) {
    uint32_t number = ward->store->vtable->queue_number(ward->store, bytes_of(queue));
    commit(ward, (struct store_op){.kind = STORE_FORGET, .queue = number, .seq = seq});
}

/* The journal's segments were used again since the letters m0 to m3 and a message that waits came:
 * only the packs have those. It still has a message that was done and one that waits. */
static struct ward *ward_new(uint64_t pack_bytes) {
    struct ward *ward = calloc(1, sizeof *ward);
    ward->clock.now = read_clock;
    ward->disk = sim_disk_new(1);
    ward->vfs = sim_vfs_new(ward->disk, 1);
    ward->options = (struct sqlite_store_options){.path = "impound.db",
                                                  .disk = sim_disk_port(ward->disk),
                                                  .vfs = SIM_VFS_NAME,
                                                  .clock = &ward->clock,
                                                  .journal_segment_bytes = SEGMENT_BYTES,
                                                  .journal_max_bytes = SEGMENTS * SEGMENT_BYTES,
                                                  .pack_bytes = pack_bytes};
    buf_init_heap(&ward->report, 1 << 20);
    open_ward(ward);
    for (int i = 0; i < LETTERS; i++)
        put(ward, "orders", (const char *[]){"m0", "m1", "m2", "m3"}[i], true);
    put(ward, "payments", "waits", false);
    sqlite_store_fold(ward->store);
    for (int i = 0; i < ROUNDS; i++) {
        forget(ward, "orders", put(ward, "orders", "busy", false));
        sqlite_store_fold(ward->store);
    }
    uint64_t done = put(ward, "orders", "done", false);
    put(ward, "orders", "recent", false);
    sqlite_store_fold(ward->store);
    forget(ward, "orders", done);
    ward->store->vtable->close(ward->store);
    assert_false(sim_disk_exists(ward->disk, "impound.db.d/0000000000000001.seg"));
    return ward;
}

static void ward_free(struct ward *ward) {
    buf_free(&ward->report);
    sim_vfs_free(ward->vfs);
    sim_disk_free(ward->disk);
    free(ward);
}

static enum status doctor(struct ward *ward, bool repair) {
    struct err err;
    buf_clear(&ward->report);
    return sqlite_store_doctor(&ward->options, repair, &ward->report, &err);
}

static bool reports(struct ward *ward, const char *text) {
    return strstr(buf_cstr(&ward->report), text) != NULL;
}

static struct message *find(struct ward *ward, const char *id) {
    struct message *held = NULL;
    struct err err;
    enum status status = letters_get(ward->store->letters, BYTES_NONE, bytes_of(id), &held, &err);
    return status == STATUS_OK ? held : NULL;
}

static void assert_held(struct ward *ward, const char *id, const char *queue, enum state state,
                        const char *reason) {
    struct message *held = find(ward, id);
    assert_non_null(held);
    assert_bytes(held->body, id);
    assert_bytes(held->envelope.queue, queue);
    assert_int_equal(held->envelope.state, state);
    assert_true(bytes_eq(held->envelope.reason, bytes_of(reason)));
    message_free(held);
}

static void assert_whole(struct ward *ward) {
    open_ward(ward);
    for (int i = 0; i < LETTERS; i++)
        assert_held(ward, (const char *[]){"m0", "m1", "m2", "m3"}[i], "orders",
                    STATE_PENDING_REVIEW, "r");
    assert_held(ward, "waits", "payments", STATE_PENDING_REVIEW, "salvaged");
    assert_held(ward, "recent", "orders", STATE_QUEUED, "");
    assert_null(find(ward, "done"));
    assert_null(find(ward, "busy"));
    assert_int_equal(ward->store->vtable->dlq_depth(ward->store, BYTES("orders.dlq")), LETTERS);
    assert_int_equal(ward->store->vtable->dlq_depth(ward->store, BYTES("payments.dlq")), 1);
    put(ward, "orders", "new", true);
    ward->store->vtable->close(ward->store);
    assert_int_equal(doctor(ward, false), STATUS_OK);
}

static void lose_file(struct ward *ward) {
    struct disk *disk = sim_disk_port(ward->disk);
    assert_int_equal(disk->vtable->remove(disk, "impound.db"), 0);
    (void)disk->vtable->remove(disk, "impound.db-wal");
    assert_int_equal(disk->vtable->sync_dir(disk, "."), 0);
}

static void spoil_file(struct ward *ward) {
    for (uint64_t at = 0; at < FIRST_PAGES * 8192; at += 97)
        sim_disk_flip(ward->disk, "impound.db", at, 3);
}

static void a_file_that_is_gone_is_made_again(void **state) {
    (void)state;
    struct ward *ward = ward_new(PACK_BYTES);
    lose_file(ward);
    assert_int_equal(doctor(ward, false), STATUS_CORRUPT);
    assert_true(reports(ward, "it has no record of the"));
    assert_int_equal(doctor(ward, true), STATUS_OK);
    assert_true(reports(ward, "rebuilt: "));
    assert_whole(ward);
    ward_free(ward);
}

static void a_malformed_file_is_set_aside_and_made_again(void **state) {
    (void)state;
    struct ward *ward = ward_new(PACK_BYTES);
    spoil_file(ward);
    assert_int_equal(doctor(ward, false), STATUS_CORRUPT);
    assert_int_equal(doctor(ward, true), STATUS_OK);
    assert_true(sim_disk_exists(ward->disk, "impound.db.damaged"));
    assert_whole(ward);
    ward_free(ward);
}

static void what_stands_behind_damage_in_a_pack_is_found(void **state) {
    (void)state;
    struct ward *ward = ward_new(ONE_PACK_BYTES);
    lose_file(ward);
    /* the first record: the envelope of m0 */
    assert_true(sim_disk_flip(ward->disk, "impound.db.d/0000000000000001.pack", 4096 + 30, 2));
    assert_int_equal(doctor(ward, true), STATUS_OK);
    assert_true(reports(ward, "bytes are of no whole record"));
    open_ward(ward);
    assert_null(find(ward, "m0"));
    assert_held(ward, "m1", "orders", STATE_PENDING_REVIEW, "r");
    assert_held(ward, "m3", "orders", STATE_PENDING_REVIEW, "r");
    ward->store->vtable->close(ward->store);
    ward_free(ward);
}

static void a_repair_that_is_cut_short_is_made_again(void **state) {
    (void)state;
    bool died = true;
    for (uint64_t calls = 1; died && calls < CRASHES_MAX; calls++) {
        struct ward *ward = ward_new(PACK_BYTES);
        if (calls % 2)
            lose_file(ward);
        else
            spoil_file(ward);
        sim_disk_crash_at(ward->disk, calls);
        (void)doctor(ward, true);
        died = sim_disk_is_dead(ward->disk);
        sim_disk_crash_at(ward->disk, 0);
        sim_disk_crash(ward->disk);
        assert_int_equal(doctor(ward, true), STATUS_OK);
        assert_whole(ward);
        ward_free(ward);
    }
    assert_false(died);
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_gone_is_made_again),
        cmocka_unit_test(a_malformed_file_is_set_aside_and_made_again),
        cmocka_unit_test(what_stands_behind_damage_in_a_pack_is_found),
        cmocka_unit_test(a_repair_that_is_cut_short_is_made_again),
    };
    return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
