/* doctor: finds what is damaged, and repairs what can be. On a simulated disk. */
#include <stdio.h>

#include "base/log.h"
#include "core/note_space.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum { SEGMENT_BYTES = 64 << 10, MESSAGES = 6, KEPT_AT_ONCE = 256 };

struct clinic {
    struct clock clock; /* first: it is cast back */
    int64_t passed_ms;
    int64_t leapt_ms; /* of the wall clock alone */
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct sqlite_store_options options;
    struct store *store;
    struct buf report;
};

static struct instant read_clock(struct clock *clock) {
    const struct clinic *clinic = (const struct clinic *)clock;
    return (struct instant){{1700000000000 + clinic->passed_ms + clinic->leapt_ms},
                            {1000 + clinic->passed_ms}};
}

static void note_status(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static void commit_one(struct clinic *clinic, struct store_op *op) {
    op->queue = clinic->store->vtable->queue_number(clinic->store, BYTES("orders"));
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = op, .count = 1, .done = note_status, .arg = &status};
    clinic->store->vtable->submit(clinic->store, &commit);
    sqlite_store_step(clinic->store);
    assert_int_equal(status, STATUS_OK);
}

static void put(struct clinic *clinic, int number) {
    char id[16], letter[16];
    snprintf(id, sizeof id, "m%d", number);
    snprintf(letter, sizeof letter, "L%d", number);
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .letter_id = bytes_of(letter),
                                .dlq = BYTES("orders.dlq"),
                                .category = BYTES("bug"),
                                .reason = BYTES("r"),
                                .failed = true,
                                .fingerprint = 0xab,
                                .state = STATE_PENDING_REVIEW,
                                .dead_at = {1700000000000},
                                .created_at = {1700000000000},
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    struct store_op op = {.kind = STORE_PUT, .envelope = &envelope, .body = bytes_of(id)};
    commit_one(clinic, &op);
}

static void open_store(struct clinic *clinic) {
    struct err err = {0};
    if (sqlite_store_open(&clinic->options, &clinic->store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
}

/* Half of the messages are folded, half are in the journal alone. */
static struct clinic *clinic_new(void) {
    struct clinic *clinic = calloc(1, sizeof *clinic);
    clinic->clock.now = read_clock;
    clinic->disk = sim_disk_new(1);
    clinic->vfs = sim_vfs_new(clinic->disk, 1);
    clinic->options = (struct sqlite_store_options){.path = "impound.db",
                                                    .disk = sim_disk_port(clinic->disk),
                                                    .vfs = SIM_VFS_NAME,
                                                    .clock = &clinic->clock,
                                                    .journal_segment_bytes = SEGMENT_BYTES};
    buf_init_heap(&clinic->report, 1 << 20);
    open_store(clinic);
    for (int i = 0; i < MESSAGES; i++) {
        put(clinic, i);
        if (i == MESSAGES / 2 - 1)
            sqlite_store_fold(clinic->store);
    }
    sqlite_store_crash(clinic->store);
    return clinic;
}

static void clinic_free(struct clinic *clinic) {
    buf_free(&clinic->report);
    sim_vfs_free(clinic->vfs);
    sim_disk_free(clinic->disk);
    free(clinic);
}

static enum status examine(struct clinic *clinic, bool repair) {
    struct err err;
    buf_clear(&clinic->report);
    return sqlite_store_doctor(&clinic->options, repair, &clinic->report, &err);
}

static bool reports(struct clinic *clinic, const char *text) {
    return strstr(buf_cstr(&clinic->report), text) != NULL;
}

static size_t count_held(struct clinic *clinic) {
    size_t held_count = 0;
    for (int i = 0; i < MESSAGES; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        struct message *held = NULL;
        struct err err;
        if (letters_get(clinic->store->letters, BYTES_NONE, bytes_of(id), &held, &err) != STATUS_OK)
            continue;
        assert_true(bytes_eq(held->body, held->envelope.id));
        message_free(held);
        held_count++;
    }
    return held_count;
}

static void a_sound_store_is_called_sound(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    assert_int_equal(examine(clinic, false), STATUS_OK);
    assert_true(reports(clinic, "the store is sound"));
    open_store(clinic);
    assert_int_equal(count_held(clinic), MESSAGES);
    clinic->store->vtable->close(clinic->store);
    clinic_free(clinic);
}

static void a_hole_in_the_journal_is_found_and_the_rest_salvaged(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    /* One group a block, the header first: the fourth message is in the block after those. */
    const uint64_t hole = (1 + MESSAGES / 2) * 4096 + 100;
    assert_true(sim_disk_flip(clinic->disk, "impound.db.d/0000000000000001.seg", hole, 3));
    struct err err;
    assert_int_equal(sqlite_store_open(&clinic->options, &clinic->store, &err), STATUS_CORRUPT);
    assert_int_equal(examine(clinic, false), STATUS_CORRUPT);
    assert_true(reports(clinic, "no whole group"));
    assert_int_equal(examine(clinic, true), STATUS_OK);
    assert_true(reports(clinic, "2 changes salvaged"));
    assert_true(reports(clinic, "and whatever stood where the journal cannot be read"));
    open_store(clinic);
    assert_int_equal(count_held(clinic), MESSAGES - 1);
    assert_int_equal(clinic->store->vtable->dlq_depth(clinic->store, BYTES("orders.dlq")),
                     MESSAGES - 1);
    put(clinic, MESSAGES);
    clinic->store->vtable->close(clinic->store);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    clinic_free(clinic);
}

/* Somebody has changed the file behind our back. */
static void meddle(struct clinic *clinic, const char *sql) {
    (void)clinic;
    struct database file;
    struct err err;
    struct database_options options = {
        .path = "impound.db", .vfs = SIM_VFS_NAME, .alone = true, .checkpoint = true};
    assert_int_equal(database_open(&options, &file, &err), STATUS_OK);
    assert_int_equal(database_run(file.db, sql, &err), STATUS_OK);
    database_close(&file);
}

static void a_group_that_lies_is_found_and_made_again(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    meddle(clinic, "UPDATE groups SET count = 5");
    assert_int_equal(examine(clinic, false), STATUS_CORRUPT);
    assert_true(reports(clinic, "group \"00000000000000ab\": it says 5, the rows say 3"));
    assert_int_equal(examine(clinic, true), STATUS_OK);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    open_store(clinic);
    struct arena arena;
    struct letters_group *groups = NULL;
    arena_init_heap(&arena, 256);
    size_t count;
    assert_int_equal(
        letters_groups(clinic->store->letters, BYTES_NONE, &arena, &groups, &count, NULL),
        STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(groups[0].count, MESSAGES);
    arena_free(&arena);
    clinic->store->vtable->close(clinic->store);
    clinic_free(clinic);
}

static void what_was_decided_and_kept_is_salvaged_too(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    open_store(clinic);
    struct store_op keep = {
        .kind = STORE_KEEP,
        .keep = {.space = SPACE_AUDIT, .name = BYTES("who"), .value = BYTES("what")}};
    commit_one(clinic, &keep);
    struct store_op mark = {
        .kind = STORE_MARK,
        .seq = 1,
        .mark = {.state = STATE_DISCARDED, .at = {1700000000000}, .why = BYTES("old")}};
    commit_one(clinic, &mark);
    sqlite_store_crash(clinic->store);
    meddle(clinic, "UPDATE counters SET count = 77 WHERE kind = 'category'");
    assert_int_equal(examine(clinic, true), STATUS_OK);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    assert_true(reports(clinic, "1 texts are kept"));
    open_store(clinic);
    struct message *held = NULL;
    struct err err;
    assert_int_equal(letters_get(clinic->store->letters, BYTES_NONE, BYTES("m0"), &held, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_DISCARDED);
    assert_bytes(held->envelope.why, "old");
    struct bytes value;
    assert_int_equal(letters_note(clinic->store->letters, 0, SPACE_AUDIT, BYTES("who"),
                                  (struct wall){1}, &held->arena, &value, &err),
                     STATUS_OK);
    assert_bytes(value, "what");
    message_free(held);
    assert_int_equal(clinic->store->vtable->dlq_depth(clinic->store, BYTES("orders.dlq")),
                     MESSAGES - 1);
    clinic->store->vtable->close(clinic->store);
    clinic_free(clinic);
}

static void keep_until(struct clinic *clinic, const char *name, int64_t expires_ms) {
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_DONE,
                                   .name = bytes_of(name),
                                   .value = BYTES("x"),
                                   .expires = {expires_ms}}};
    commit_one(clinic, &op);
}

static void what_expired_leaves_the_file(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    open_store(clinic);
    keep_until(clinic, "over", 1700000000000);
    keep_until(clinic, "soon", 1700000000001);
    keep_until(clinic, "never", WALL_NEVER.ms);
    clinic->store->vtable->close(clinic->store);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    assert_true(reports(clinic, "2 texts are kept"));
    clinic_free(clinic);
}

static size_t listed(struct clinic *clinic) {
    struct letters_note out[4];
    struct arena arena;
    struct err err;
    size_t count;
    arena_init_heap(&arena, 4096);
    assert_int_equal(letters_notes(clinic->store->letters, SPACE_DONE, BYTES_NONE, BYTES_NONE,
                                   false, 4, &arena, out, &count, &err),
                     STATUS_OK);
    arena_free(&arena);
    return count;
}

static void a_leap_of_the_wall_clock_expires_no_listed_text(void **state) {
    enum { HOUR_MS = 3600 * 1000 };
    (void)state;
    struct clinic *clinic = clinic_new();
    open_store(clinic);
    keep_until(clinic, "file", 1700000000000 + HOUR_MS);
    sqlite_store_fold(clinic->store);
    keep_until(clinic, "memory", 1700000000000 + HOUR_MS);
    clinic->leapt_ms = 2 * HOUR_MS;
    assert_int_equal(listed(clinic), 2);
    clinic->passed_ms = HOUR_MS;
    assert_int_equal(listed(clinic), 0);
    clinic->store->vtable->close(clinic->store);
    clinic_free(clinic);
}

/* In one commit: texts that expire as soon as the clock moves. */
static void keep_many(struct clinic *clinic, int first) {
    struct store_op ops[KEPT_AT_ONCE];
    char names[KEPT_AT_ONCE][16];
    enum status status = STATUS_INTERNAL;
    for (int i = 0; i < KEPT_AT_ONCE; i++) {
        snprintf(names[i], sizeof names[i], "k%d", first + i);
        ops[i] = (struct store_op){.kind = STORE_KEEP,
                                   .keep = {.space = SPACE_DONE,
                                            .name = bytes_of(names[i]),
                                            .value = BYTES("x"),
                                            .expires = {1700000000001}}};
    }
    struct store_commit commit = {
        .ops = ops, .count = KEPT_AT_ONCE, .done = note_status, .arg = &status};
    clinic->store->vtable->submit(clinic->store, &commit);
    sqlite_store_step(clinic->store);
    assert_int_equal(status, STATUS_OK);
}

static void what_expires_does_not_pile_up(void **state) {
    (void)state;
    enum { COMMITS = 12, FOLDS = 4 };
    static const char *const names[FOLDS] = {"a", "b", "c", "d"};
    struct clinic *clinic = clinic_new();
    open_store(clinic);
    for (int i = 0; i < COMMITS; i++)
        keep_many(clinic, i * KEPT_AT_ONCE);
    sqlite_store_fold(clinic->store);
    clinic->passed_ms = 3600 * 1000;
    for (int i = 0; i < FOLDS; i++) { /* all in one moment */
        keep_until(clinic, names[i], WALL_NEVER.ms);
        sqlite_store_fold(clinic->store);
    }
    clinic->store->vtable->close(clinic->store);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    assert_true(reports(clinic, "; 4 texts are kept"));
    clinic_free(clinic);
}

static void a_counter_that_lies_is_found_and_made_again(void **state) {
    (void)state;
    struct clinic *clinic = clinic_new();
    meddle(clinic, "UPDATE counters SET count = 77 WHERE kind = 'category'");
    assert_int_equal(examine(clinic, false), STATUS_CORRUPT);
    assert_true(reports(clinic, "it says 77, the rows say 3"));
    assert_int_equal(examine(clinic, true), STATUS_OK);
    assert_int_equal(examine(clinic, false), STATUS_OK);
    open_store(clinic);
    assert_int_equal(clinic->store->vtable->dlq_depth(clinic->store, BYTES("orders.dlq")),
                     MESSAGES);
    clinic->store->vtable->close(clinic->store);
    clinic_free(clinic);
}

int main(void) {
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_store_is_called_sound),
        cmocka_unit_test(a_hole_in_the_journal_is_found_and_the_rest_salvaged),
        cmocka_unit_test(a_counter_that_lies_is_found_and_made_again),
        cmocka_unit_test(a_group_that_lies_is_found_and_made_again),
        cmocka_unit_test(what_was_decided_and_kept_is_salvaged_too),
        cmocka_unit_test(what_expired_leaves_the_file),
        cmocka_unit_test(what_expires_does_not_pile_up),
        cmocka_unit_test(a_leap_of_the_wall_clock_expires_no_listed_text),
    };
    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
