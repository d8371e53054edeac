/* The simulated disk must be as bad as it promises, or the tests that rely on it prove nothing. */
#include "test.h"

#include <errno.h>

#include "sim_disk.h"

enum { SEEDS = 200, LEN = 2000 };

static const char path[] = "/file";

struct rig {
    struct sim_disk *sim;
    struct disk *disk;
    struct disk_file *file;
};

/* A synced file of LEN bytes 'a'. */
static void start(struct rig *rig, uint64_t seed) {
    char bytes[LEN];
    memset(bytes, 'a', sizeof bytes);
    rig->sim = sim_disk_new(seed);
    rig->disk = sim_disk_port(rig->sim);
    assert_int_equal(rig->disk->vtable->open(rig->disk, path, 1, &rig->file), 0);
    assert_int_equal(rig->disk->vtable->write(rig->disk, rig->file, 0, bytes, LEN), 0);
    assert_int_equal(rig->disk->vtable->sync(rig->disk, rig->file), 0);
    assert_int_equal(rig->disk->vtable->sync_dir(rig->disk, "/"), 0);
}

static void stop(struct rig *rig) {
    rig->disk->vtable->close(rig->disk, rig->file);
    sim_disk_free(rig->sim);
}

static void overwrite(struct rig *rig, char with) {
    char bytes[LEN];
    memset(bytes, with, sizeof bytes);
    assert_int_equal(rig->disk->vtable->write(rig->disk, rig->file, 0, bytes, LEN), 0);
}

/* How many of the file's bytes are `what` after the power was cut. */
static size_t count_after_crash(struct rig *rig, char what) {
    char bytes[LEN];
    size_t count = 0;
    sim_disk_crash(rig->sim);
    assert_int_equal(rig->disk->vtable->read(rig->disk, rig->file, 0, bytes, LEN), EIO);
    rig->disk->vtable->close(rig->disk, rig->file);
    assert_int_equal(rig->disk->vtable->open(rig->disk, path, 0, &rig->file), 0);
    assert_int_equal(rig->disk->vtable->read(rig->disk, rig->file, 0, bytes, LEN), 0);
    for (size_t i = 0; i < LEN; i++)
        count += bytes[i] == what;
    return count;
}

static void an_unsynced_write_is_kept_lost_or_torn(void **state) {
    (void)state;
    size_t kept = 0, lost = 0, torn = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rig rig;
        start(&rig, seed);
        overwrite(&rig, 'b');
        size_t count = count_after_crash(&rig, 'b');
        kept += count == LEN;
        lost += count == 0;
        torn += count > 0 && count < LEN;
        stop(&rig);
    }
    assert_true(kept > 0 && lost > 0 && torn > 0);
}

static void a_synced_write_is_kept(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rig rig;
        start(&rig, seed);
        overwrite(&rig, 'b');
        assert_int_equal(rig.disk->vtable->sync(rig.disk, rig.file), 0);
        assert_int_equal(count_after_crash(&rig, 'b'), LEN);
        stop(&rig);
    }
}

static void a_sync_after_a_failed_one_does_not_bring_back_what_that_lost(void **state) {
    (void)state;
    size_t lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rig rig;
        start(&rig, seed);
        overwrite(&rig, 'b');
        sim_disk_fail_after(rig.sim, 0, 1, EIO);
        assert_int_equal(rig.disk->vtable->sync(rig.disk, rig.file), EIO);
        assert_int_equal(rig.disk->vtable->sync(rig.disk, rig.file), 0);
        lost += count_after_crash(&rig, 'b') < LEN;
        stop(&rig);
    }
    assert_true(lost > 0);
}

static void a_name_is_safe_once_its_folder_is_synced(void **state) {
    (void)state;
    size_t renamed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rig rig;
        start(&rig, seed);
        assert_int_equal(rig.disk->vtable->rename(rig.disk, path, "/other"), 0);
        if (seed % 2)
            assert_int_equal(rig.disk->vtable->sync_dir(rig.disk, "/"), 0);
        sim_disk_crash(rig.sim);
        bool other = sim_disk_exists(rig.sim, "/other");
        assert_int_not_equal(other, sim_disk_exists(rig.sim, path));
        assert_true(other || seed % 2 == 0);
        renamed += other;
        stop(&rig);
    }
    assert_true(renamed > SEEDS / 2 && renamed < SEEDS);
}

static void a_dead_machine_answers_nothing_until_it_is_switched_on(void **state) {
    (void)state;
    struct rig rig;
    start(&rig, 1);
    sim_disk_crash_at(rig.sim, 2);
    overwrite(&rig, 'b');
    assert_int_equal(rig.disk->vtable->sync(rig.disk, rig.file), EIO);
    assert_true(sim_disk_is_dead(rig.sim));
    assert_int_equal(rig.disk->vtable->rename(rig.disk, path, "/other"), EIO);
    uint64_t size;
    assert_int_equal(rig.disk->vtable->size(rig.disk, rig.file, &size), EIO);
    sim_disk_crash(rig.sim);
    assert_false(sim_disk_is_dead(rig.sim));
    assert_true(sim_disk_exists(rig.sim, path));
    stop(&rig);
}

static void a_full_disk_takes_what_fits(void **state) {
    (void)state;
    struct rig rig;
    start(&rig, 1);
    sim_disk_set_capacity(rig.sim, LEN + 1);
    assert_int_equal(rig.disk->vtable->write(rig.disk, rig.file, LEN, "xy", 2), ENOSPC);
    assert_int_equal(rig.disk->vtable->allocate(rig.disk, rig.file, LEN + 2), ENOSPC);
    assert_int_equal(rig.disk->vtable->write(rig.disk, rig.file, LEN, "x", 1), 0);
    overwrite(&rig, 'b');
    stop(&rig);
}

static void the_same_seed_gives_the_same_crash(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        size_t counts[2];
        for (int run = 0; run < 2; run++) {
            struct rig rig;
            start(&rig, seed);
            overwrite(&rig, 'b');
            counts[run] = count_after_crash(&rig, 'b');
            stop(&rig);
        }
        assert_int_equal(counts[0], counts[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unsynced_write_is_kept_lost_or_torn),
        cmocka_unit_test(a_synced_write_is_kept),
        cmocka_unit_test(a_sync_after_a_failed_one_does_not_bring_back_what_that_lost),
        cmocka_unit_test(a_name_is_safe_once_its_folder_is_synced),
        cmocka_unit_test(a_dead_machine_answers_nothing_until_it_is_switched_on),
        cmocka_unit_test(a_full_disk_takes_what_fits),
        cmocka_unit_test(the_same_seed_gives_the_same_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
