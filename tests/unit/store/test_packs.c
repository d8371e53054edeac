/* The files beside the SQLite file: their room is given back, and damage to them is told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/pages/pack.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum {
    MESSAGES = 60,
    BODY = 4000,
    PACK_BYTES = 32 << 10,
    SEGMENT_BYTES = 128 << 10,
    LARGE_SEGMENT_BYTES = 8 << 20,
    PATH = 64
};

struct lab {
    uint64_t pack_bytes, segment_bytes;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct store *store;
    uint64_t seqs[MESSAGES];
};

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static struct clock frozen = {.now = read_clock};
static const struct disk_vtable *sim_vtable; /* while another stands in its place */

static struct sqlite_store_options options_of(struct lab *lab) {
    return (struct sqlite_store_options){.path = "impound.db",
                                         .disk = sim_disk_port(lab->disk),
                                         .vfs = SIM_VFS_NAME,
                                         .clock = &frozen,
                                         .pack_bytes = lab->pack_bytes,
                                         .journal_segment_bytes = lab->segment_bytes};
}

static enum status open_store(struct lab *lab, struct err *err) {
    struct sqlite_store_options options = options_of(lab);
    return sqlite_store_open(&options, &lab->store, err);
}

static void close_store(struct lab *lab) {
    if (lab->store)
        lab->store->vtable->close(lab->store);
    lab->store = NULL;
}

static int enter_with(void **state, uint64_t pack_bytes, uint64_t segment_bytes) {
    struct lab *lab = calloc(1, sizeof *lab);
    struct err err;
    lab->pack_bytes = pack_bytes;
    lab->segment_bytes = segment_bytes;
    lab->disk = sim_disk_new(1);
    lab->vfs = sim_vfs_new(lab->disk, 1);
    *state = lab;
    return open_store(lab, &err);
}

static int enter(void **state) {
    return enter_with(state, PACK_BYTES, SEGMENT_BYTES);
}

static int enter_large(void **state) {
    return enter_with(state, 0, LARGE_SEGMENT_BYTES);
}

static int leave(void **state) {
    struct lab *lab = *state;
    close_store(lab);
    sim_vfs_free(lab->vfs);
    sim_disk_free(lab->disk);
    free(lab);
    return 0;
}

static void note(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static void commit(struct lab *lab, struct store_op *op) {
    enum status status = STATUS_INTERNAL;
    struct store_commit one = {.ops = op, .count = 1, .done = note, .arg = &status};
    op->queue = lab->store->vtable->queue_number(lab->store, BYTES("orders"));
    lab->store->vtable->submit(lab->store, &one);
    sqlite_store_step(lab->store);
    assert_int_equal(status, STATUS_OK);
}

static const char *id_of(int number, char id[PATH]) {
    snprintf(id, PATH, "m-%d", number);
    return id;
}

static void fill_body(int number, char body[BODY]) {
    for (int i = 0; i < BODY; i++)
        body[i] = (char)('a' + (number + i) % 26);
}

static void put(struct lab *lab, int number) {
    char id[PATH], body[BODY];
    fill_body(number, body);
    struct envelope envelope = {.id = bytes_of(id_of(number, id)),
                                .queue = BYTES("orders"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    struct store_op op = {.kind = STORE_PUT, .envelope = &envelope, .body = {body, BODY}};
    commit(lab, &op);
    lab->seqs[number] = op.seq;
}

static void put_all(struct lab *lab) {
    for (int i = 0; i < MESSAGES; i++)
        put(lab, i);
    sqlite_store_fold(lab->store);
}

static void forget(struct lab *lab, int number) {
    struct store_op op = {.kind = STORE_FORGET, .seq = lab->seqs[number]};
    commit(lab, &op);
}

static enum status read_one(struct lab *lab, int number) {
    char id[PATH], body[BODY];
    struct message *held = NULL;
    struct err err;
    enum status status =
        letters_get(lab->store->letters, BYTES("orders"), bytes_of(id_of(number, id)), &held, &err);
    if (status == STATUS_OK) {
        fill_body(number, body);
        assert_true(bytes_eq(held->body, (struct bytes){body, BODY}));
    }
    message_free(held);
    return status;
}

struct sizes {
    struct disk *disk;
    uint64_t packs, bytes;
};

static void add_size(void *arg, const char *name) {
    struct sizes *sizes = arg;
    uint64_t number, size = 0;
    char path[2 * PATH];
    struct disk_file *file;
    if (!pack_number(name, &number))
        return;
    snprintf(path, sizeof path, "impound.db.d/%s", name);
    assert_int_equal(sizes->disk->vtable->open(sizes->disk, path, 0, &file), 0);
    assert_int_equal(sizes->disk->vtable->size(sizes->disk, file, &size), 0);
    sizes->disk->vtable->close(sizes->disk, file);
    sizes->packs++;
    sizes->bytes += size;
}

static struct sizes measure(struct lab *lab) {
    struct sizes sizes = {.disk = sim_disk_port(lab->disk)};
    assert_int_equal(sizes.disk->vtable->list(sizes.disk, "impound.db.d", add_size, &sizes), 0);
    return sizes;
}

/* So that the next message goes into another. Gives how many it took. */
static int fill_one_pack(struct lab *lab) {
    int count = 0;
    do {
        put(lab, count++);
        sqlite_store_fold(lab->store);
    } while (measure(lab).bytes < PACK_BYTES);
    assert_int_equal(measure(lab).packs, 1);
    return count;
}

/* ---- room ---- */

static void packs_that_nobody_refers_to_are_removed(void **state) {
    struct lab *lab = *state;
    put_all(lab);
    assert_true(measure(lab).packs > 3);
    for (int i = 0; i < MESSAGES; i++)
        forget(lab, i);
    sqlite_store_fold(lab->store);
    assert_int_equal(measure(lab).packs, 1); /* the one that is written to */
}

static void a_pack_that_died_while_it_was_written_to_is_removed_too(void **state) {
    struct lab *lab = *state;
    int count = fill_one_pack(lab);
    for (int i = 0; i < count; i++)
        forget(lab, i);
    sqlite_store_fold(lab->store);
    put(lab, count); /* into the next */
    sqlite_store_fold(lab->store);
    assert_int_equal(measure(lab).packs, 1);
    assert_int_equal(read_one(lab, count), STATUS_OK);
}

static int refuse_to_remove_packs(struct disk *disk, const char *path) {
    return bytes_ends(bytes_of(path), BYTES(".pack")) ? EACCES : sim_vtable->remove(disk, path);
}

static void a_pack_that_could_not_be_removed_is_at_the_next_start(void **state) {
    struct lab *lab = *state;
    struct disk *disk = sim_disk_port(lab->disk);
    struct err err;
    put_all(lab);
    uint64_t packs = measure(lab).packs;
    for (int i = 0; i < MESSAGES; i++)
        forget(lab, i);
    sim_vtable = disk->vtable;
    struct disk_vtable refusing = *sim_vtable;
    refusing.remove = refuse_to_remove_packs;
    disk->vtable = &refusing;
    sqlite_store_fold(lab->store);
    put(lab, 0);
    sqlite_store_fold(lab->store);
    disk->vtable = sim_vtable;
    close_store(lab);
    assert_true(measure(lab).packs >= packs);
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    put(lab, 1);
    sqlite_store_fold(lab->store); /* its first one looks for the dead */
    assert_int_equal(measure(lab).packs, 1);
    assert_int_equal(read_one(lab, 0), STATUS_OK);
}

/* Wherever the disk refuses a fold, also if the power fails then. */
static void fold_with_a_failed_call(struct lab *lab, uint64_t call, bool crash) {
    struct err err;
    int count = fill_one_pack(lab);
    put(lab, count);
    sim_disk_fail_after(lab->disk, call, 1, EIO);
    sqlite_store_fold(lab->store);
    sim_disk_fail_after(lab->disk, 0, 0, EIO);
    if (crash) {
        sqlite_store_crash(lab->store);
        sim_disk_crash(lab->disk);
        assert_int_equal(open_store(lab, &err), STATUS_OK);
    }
    put(lab, count + 1);
    sqlite_store_fold(lab->store);
    assert_int_equal(measure(lab).packs, 2);
    for (int i = 0; i < count + 2; i++)
        assert_int_equal(read_one(lab, i), STATUS_OK);
}

static void packs_of_folds_that_failed_are_removed(void **state) {
    (void)state;
    enum { CALLS = 20 };
    for (uint64_t run = 0; run < 2 * CALLS; run++) {
        void *lab;
        assert_int_equal(enter(&lab), 0);
        fold_with_a_failed_call(lab, run / 2, run % 2);
        leave(&lab);
    }
}

static void what_little_is_left_moves_together(void **state) {
    struct lab *lab = *state;
    put_all(lab);
    uint64_t before = measure(lab).bytes;
    for (int i = 0; i < MESSAGES; i++) {
        if (i % 6 != 0)
            forget(lab, i);
    }
    for (int i = 0; i < MESSAGES; i++) /* one pack a fold */
        sqlite_store_fold(lab->store);
    assert_true(measure(lab).bytes < before / 2);
    close_store(lab);
    struct err err;
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(read_one(lab, i), i % 6 == 0 ? STATUS_OK : STATUS_NOT_FOUND);
}

/* ---- damage ---- */

static void a_pack_that_cannot_be_emptied_keeps_no_other_from_it(void **state) {
    enum { OF_THE_FIRST = 10 };
    struct lab *lab = *state;
    put_all(lab);
    uint64_t before = measure(lab).bytes;
    for (int i = 0; i < MESSAGES; i++) { /* of the first pack only one is left: it wastes most */
        if (i < OF_THE_FIRST ? i != 0 : i % 4 != 0)
            forget(lab, i);
    }
    assert_true(sim_disk_flip(lab->disk, "impound.db.d/0000000000000001.pack", 20000, 3));
    for (int i = 0; i < MESSAGES; i++)
        sqlite_store_fold(lab->store);
    assert_true(measure(lab).bytes < before / 2);
    assert_int_equal(read_one(lab, 0), STATUS_OK);
}

static enum status examine(struct lab *lab, bool repair, struct buf *report) {
    struct sqlite_store_options options = options_of(lab);
    struct err err;
    buf_clear(report);
    return sqlite_store_doctor(&options, repair, report, &err);
}

static size_t readable(struct lab *lab) {
    size_t count = 0;
    for (int i = 0; i < MESSAGES; i++)
        count += read_one(lab, i) == STATUS_OK;
    return count;
}

static void meddle(const char *sql) {
    struct database_options options = {
        .path = "impound.db", .vfs = SIM_VFS_NAME, .alone = true, .checkpoint = true};
    struct database file;
    struct err err;
    assert_int_equal(database_open(&options, &file, &err), STATUS_OK);
    assert_int_equal(database_run(file.db, sql, &err), STATUS_OK);
    database_close(&file);
}

static void doctor_removes_no_pack_for_a_count_that_lies(void **state) {
    struct lab *lab = *state;
    struct buf report;
    struct err err;
    buf_init_heap(&report, 1 << 16);
    put_all(lab);
    close_store(lab);
    meddle("UPDATE packs SET live = 0 WHERE number = 2");
    assert_int_equal(examine(lab, true, &report), STATUS_OK);
    assert_int_equal(examine(lab, false, &report), STATUS_OK);
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    assert_int_equal(readable(lab), MESSAGES);
    buf_free(&report);
}

static void doctor_takes_what_is_damaged_from_the_journal(void **state) {
    struct lab *lab = *state;
    struct buf report;
    struct err err;
    buf_init_heap(&report, 1 << 16);
    put_all(lab);
    close_store(lab);
    assert_int_equal(examine(lab, false, &report), STATUS_OK);
    assert_true(sim_disk_flip(lab->disk, "impound.db.d/0000000000000002.pack", 9000, 3));
    assert_int_equal(examine(lab, false, &report), STATUS_CORRUPT);
    assert_non_null(strstr(buf_cstr(&report), "pack 0000000000000002, offset"));
    assert_int_equal(examine(lab, true, &report), STATUS_OK);
    assert_int_equal(examine(lab, false, &report), STATUS_OK);
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    assert_int_equal(readable(lab), MESSAGES);
    buf_free(&report);
}

static void a_missing_pack_refuses_the_start_until_it_is_repaired(void **state) {
    struct lab *lab = *state;
    struct disk *disk = sim_disk_port(lab->disk);
    struct buf report;
    struct err err;
    buf_init_heap(&report, 1 << 16);
    put_all(lab);
    close_store(lab);
    assert_int_equal(disk->vtable->remove(disk, "impound.db.d/0000000000000002.pack"), 0);
    assert_int_equal(open_store(lab, &err), STATUS_CORRUPT);
    assert_non_null(strstr(err.text, "0000000000000002"));
    assert_int_equal(examine(lab, true, &report), STATUS_OK);
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    assert_int_equal(readable(lab), MESSAGES); /* the journal still has them */
    buf_free(&report);
}

static int refuse_packs(struct disk *disk, const char *path, int create, struct disk_file **out) {
    if (bytes_ends(bytes_of(path), BYTES(".pack")))
        return EMFILE;
    return sim_vtable->open(disk, path, create, out);
}

static void a_pack_that_cannot_be_opened_now_costs_no_message(void **state) {
    struct lab *lab = *state;
    struct disk *disk = sim_disk_port(lab->disk);
    struct buf report;
    struct err err;
    buf_init_heap(&report, 1 << 16);
    put_all(lab);
    close_store(lab);
    sim_vtable = disk->vtable;
    struct disk_vtable refusing = *sim_vtable;
    refusing.open = refuse_packs;
    disk->vtable = &refusing;
    assert_int_equal(open_store(lab, &err), STATUS_IO);
    assert_non_null(strstr(err.text, strerror(EMFILE)));
    assert_int_equal(examine(lab, true, &report), STATUS_IO);
    disk->vtable = sim_vtable;
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    assert_int_equal(readable(lab), MESSAGES);
    buf_free(&report);
}

/* It knows fewer packs, and asks for a part of the journal that is not there. */
static void a_file_that_does_not_fit_its_journal_costs_no_pack(void **state) {
    struct lab *lab = *state;
    struct err err;
    put_all(lab);
    close_store(lab);
    uint64_t packs = measure(lab).packs;
    meddle("DELETE FROM messages WHERE envelope_at >> 32 > 1 OR body_at >> 32 > 1;"
           "DELETE FROM packs WHERE number > 1;"
           "UPDATE meta SET value = value << 8 WHERE name = 'journal_position'");
    assert_int_equal(open_store(lab, &err), STATUS_CORRUPT);
    assert_int_equal(measure(lab).packs, packs);
}

/* More than is written at once, and one that is larger than all of that. */
static void bodies_of_any_size_are_read_as_they_were_put(void **state) {
    static const size_t sizes[] = {600000, 1, 700001, 5 << 20, 4096, 0, 1 << 20, 999999};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    struct lab *lab = *state;
    char id[PATH], *body = malloc(5 << 20);
    struct err err;
    for (int i = 0; i < COUNT; i++) {
        memset(body, 'a' + i, sizes[i]);
        struct envelope envelope = {.id = bytes_of(id_of(i, id)),
                                    .queue = BYTES("orders"),
                                    .source = BYTES("{\"kind\":\"builtin\"}"),
                                    .retry_after_ms = -1};
        struct store_op op = {.kind = STORE_PUT, .envelope = &envelope, .body = {body, sizes[i]}};
        commit(lab, &op);
    }
    close_store(lab); /* one fold of all */
    assert_int_equal(open_store(lab, &err), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        struct message *held = NULL;
        assert_int_equal(
            letters_get(lab->store->letters, BYTES("orders"), bytes_of(id_of(i, id)), &held, &err),
            STATUS_OK);
        memset(body, 'a' + i, sizes[i]);
        assert_true(bytes_eq(held->body, (struct bytes){body, sizes[i]}));
        message_free(held);
    }
    free(body);
}

#define IN_LAB(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        IN_LAB(packs_that_nobody_refers_to_are_removed),
        IN_LAB(a_pack_that_died_while_it_was_written_to_is_removed_too),
        IN_LAB(a_pack_that_could_not_be_removed_is_at_the_next_start),
        cmocka_unit_test(packs_of_folds_that_failed_are_removed),
        IN_LAB(what_little_is_left_moves_together),
        IN_LAB(a_pack_that_cannot_be_emptied_keeps_no_other_from_it),
        IN_LAB(doctor_removes_no_pack_for_a_count_that_lies),
        IN_LAB(doctor_takes_what_is_damaged_from_the_journal),
        IN_LAB(a_pack_that_cannot_be_opened_now_costs_no_message),
        IN_LAB(a_file_that_does_not_fit_its_journal_costs_no_pack),
        IN_LAB(a_missing_pack_refuses_the_start_until_it_is_repaired),
        cmocka_unit_test_setup_teardown(bodies_of_any_size_are_read_as_they_were_put, enter_large,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
