/* What a journal does on a disk that does not fail. Every test runs on the simulated disk and on
 * real files: *state is the disk. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/tempdir.h"
#include "journal_world.h"
#include "sim_disk.h"
#include "store/disk_posix.h"

struct place {
    struct sim_disk *sim; /* NULL: real files */
    char root[64];
    char dir[80];
    struct journal_world world;
};

static struct place *place_new(struct sim_disk *sim) {
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->sim = sim;
    if (sim)
        sim_disk_port(sim)->vtable->make_dir(sim_disk_port(sim), strcpy(place->root, "/sim"));
    else
        assert_int_equal(
            tempdir_make("/tmp", "impound-journal", place->root, sizeof place->root, NULL),
            STATUS_OK);
    snprintf(place->dir, sizeof place->dir, "%s/db.d", place->root);
    journal_world_init(&place->world, sim ? sim_disk_port(sim) : &disk_posix, place->dir);
    return place;
}

static int on_sim(void **state) {
    *state = place_new(sim_disk_new(1));
    return 0;
}

static int on_files(void **state) {
    *state = place_new(NULL);
    return 0;
}

static int leave(void **state) {
    struct place *place = *state;
    journal_world_free(&place->world);
    if (place->sim)
        sim_disk_free(place->sim);
    else
        tempdir_remove(place->root);
    free(place);
    return 0;
}

static struct journal_world *world_of(void **state) {
    return &((struct place *)*state)->world;
}

static void expect_read(struct journal_world *world, uint64_t position, const char *text) {
    struct buf out;
    buf_init_heap(&out, 1 << 20);
    assert_int_equal(journal_world_read(world->journal, position, &out, &world->err), STATUS_OK);
    assert_bytes(buf_view(&out), text);
    buf_free(&out);
}

static void what_was_appended_is_read_before_and_after_the_sync(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    struct bytes records[] = {BYTES("first"), BYTES(""), BYTES("third")};
    uint64_t at[3];
    assert_int_equal(journal_append(world->journal, records, 3, at, &world->err), STATUS_OK);
    expect_read(world, at[0], "first");
    expect_read(world, at[1], "");
    expect_read(world, at[2], "third");
    assert_int_equal(journal_sync(world->journal, &world->err), STATUS_OK);
    expect_read(world, at[2], "third");
    assert_true(at[0] < at[1] && at[1] < at[2] && at[2] < journal_end(world->journal));
}

static void it_gives_back_all_records_in_order_when_opened_again(void **state) {
    struct journal_world *world = world_of(state);
    uint64_t at[4];
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_expect(world, "");
    at[0] = journal_world_commit(world, "a");
    at[1] = journal_world_commit(world, "b");
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_expect(world, "a b");
    at[2] = journal_world_commit(world, "c");
    at[3] = journal_world_commit(world, "d");
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_expect(world, "a b c d");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(world->seen_at[i], at[i]);
        expect_read(world, at[i], world->seen[i]);
    }
}

static void it_starts_at_the_position_asked_for(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "a");
    uint64_t middle = journal_world_commit(world, "b");
    journal_world_commit(world, "c");
    uint64_t end = journal_end(world->journal);
    assert_int_equal(journal_world_open(world, middle), STATUS_OK);
    journal_world_expect(world, "b c");
    assert_int_equal(journal_world_open(world, end), STATUS_OK);
    journal_world_expect(world, "");
    assert_int_equal(journal_world_open(world, end + JOURNAL_BLOCK), STATUS_CORRUPT);
}

static void a_position_in_a_journal_that_is_gone_is_corrupt(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, JOURNAL_WORLD_SEGMENT), STATUS_CORRUPT);
    assert_non_null(strstr(world->err.text, "empty"));
}

static enum status refuse(void *arg, uint64_t position, struct bytes record) {
    (void)position;
    (void)record;
    return ++*(int *)arg == 2 ? STATUS_CONFLICT : STATUS_OK;
}

static void an_answer_of_the_replay_stops_the_opening(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    for (int i = 0; i < 3; i++)
        journal_world_commit(world, "x");
    journal_world_close(world);
    int calls = 0;
    assert_int_equal(journal_open(&world->options, 0, refuse, &calls, &world->journal, &world->err),
                     STATUS_CONFLICT);
    assert_int_equal(calls, 2);
    world->journal = NULL;
}

static void it_goes_on_over_many_segments_and_uses_them_again(void **state) {
    struct journal_world *world = world_of(state);
    world->options.max_bytes = 4 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    uint64_t first = journal_world_commit(world, "first"), last = first;
    for (int i = 0; i < 100; i++) {
        uint64_t position = journal_world_commit(world, "body");
        assert_true(position > last);
        last = position;
        assert_int_equal(journal_recycle(world->journal, last, &world->err), STATUS_OK);
        assert_true(journal_bytes(world->journal) <= 2 * JOURNAL_WORLD_SEGMENT);
    }
    expect_read(world, last, "body");
    struct buf out;
    buf_init_heap(&out, 100);
    assert_int_equal(journal_world_read(world->journal, first, &out, &world->err),
                     STATUS_NOT_FOUND);
    buf_free(&out);
    assert_int_equal(journal_world_open(world, last), STATUS_OK);
    journal_world_expect(world, "body");
    assert_int_equal(world->seen_at[0], last);
}

struct file_sum {
    size_t segments, others;
};

static void count_file(void *arg, const char *name) {
    struct file_sum *sum = arg;
    size_t len = strlen(name);
    *(len > 4 && strcmp(name + len - 4, ".seg") == 0 ? &sum->segments : &sum->others) += 1;
}

static struct file_sum count_files(struct journal_world *world) {
    struct file_sum sum = {0};
    struct disk *disk = world->options.disk;
    assert_int_equal(disk->vtable->list(disk, world->options.dir, count_file, &sum), 0);
    return sum;
}

static void what_was_prepared_becomes_the_next_segment(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "a");
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    assert_int_equal(count_files(world).others, 1);
    for (int i = 0; i < 10; i++)
        journal_world_commit(world, "b");
    assert_int_equal(count_files(world).others, 0);
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_expect(world, "a b b b b b b b b b b");
    assert_int_equal(count_files(world).others, 0);
}

static void nothing_is_prepared_while_nearly_all_of_the_segment_is_left(void **state) {
    struct journal_world *world = world_of(state);
    world->options.segment_bytes = 8 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    journal_world_commit(world, "a");
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    assert_int_equal(count_files(world).others, 0);
    for (int i = 0; i < 8; i++)
        journal_world_commit(world, "b");
    assert_int_equal(journal_prepare(world->journal, &world->err), STATUS_OK);
    assert_int_equal(count_files(world).others, 1);
}

static void folded_segments_beyond_the_kept_ones_are_removed(void **state) {
    struct journal_world *world = world_of(state);
    world->options.keep_bytes = 2 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    uint64_t last = 0;
    for (int i = 0; i < 100; i++)
        last = journal_world_commit(world, "x");
    assert_true(count_files(world).segments > 10);
    assert_int_equal(journal_recycle(world->journal, last, &world->err), STATUS_OK);
    assert_int_equal(count_files(world).segments, 3);
    assert_int_equal(journal_world_open(world, last), STATUS_OK);
    journal_world_expect(world, "x");
}

static void a_journal_at_its_bound_is_full_until_it_is_recycled(void **state) {
    struct journal_world *world = world_of(state);
    world->options.max_bytes = 3 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    size_t taken = 0;
    uint64_t position, last = 0;
    enum status status;
    while ((status = journal_world_append(world, "x", &position)) == STATUS_OK) {
        assert_true(++taken < 1000);
        last = position;
    }
    assert_int_equal(status, STATUS_FULL);
    assert_int_equal(journal_bytes(world->journal), 3 * JOURNAL_WORLD_SEGMENT);
    assert_int_equal(journal_sync(world->journal, &world->err), STATUS_OK);
    assert_int_equal(journal_recycle(world->journal, last, &world->err), STATUS_OK);
    journal_world_commit(world, "y");
    assert_int_equal(journal_world_open(world, last), STATUS_OK);
    journal_world_expect(world, "x y");
}

static void a_full_journal_can_be_opened_folded_and_used(void **state) {
    struct journal_world *world = world_of(state);
    world->options.max_bytes = 2 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    uint64_t position;
    while (journal_world_append(world, "x", &position) == STATUS_OK)
        assert_int_equal(journal_sync(world->journal, &world->err), STATUS_OK);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    assert_int_equal(journal_world_append(world, "y", &position), STATUS_FULL);
    assert_int_equal(journal_recycle(world->journal, journal_end(world->journal), &world->err),
                     STATUS_OK);
    journal_world_commit(world, "y");
}

static void opening_an_idle_journal_often_takes_no_more_room(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "a");
    for (int i = 0; i < 20; i++)
        assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    assert_int_equal(journal_bytes(world->journal), JOURNAL_WORLD_SEGMENT);
    journal_world_expect(world, "a");
}

static void a_group_that_no_segment_takes_is_refused_with_the_limit(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    size_t most =
        JOURNAL_WORLD_SEGMENT - JOURNAL_BLOCK - JOURNAL_GROUP_BYTES - JOURNAL_RECORD_BYTES;
    char *large = calloc(1, most + 1);
    assert_non_null(large);
    struct bytes record = {large, most + 1};
    uint64_t position;
    assert_int_equal(journal_append(world->journal, &record, 1, &position, &world->err),
                     STATUS_TOO_LARGE);
    assert_non_null(strstr(world->err.text, "28624")); /* 8 × 4096 − 4096 − 48 */
    record.len = most;
    for (int i = 0; i < 3; i++)
        assert_int_equal(journal_append(world->journal, &record, 1, &position, &world->err),
                         STATUS_OK);
    assert_int_equal(journal_sync(world->journal, &world->err), STATUS_OK);
    uint64_t end = journal_end(world->journal);
    free(large);
    assert_int_equal(journal_world_open(world, end), STATUS_OK);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    assert_int_equal(world->seen_count, 3);
}

static void options_that_cannot_work_are_refused(void **state) {
    struct journal_world *world = world_of(state);
    world->options.segment_bytes = JOURNAL_BLOCK + 1;
    assert_int_equal(journal_world_open(world, 0), STATUS_INVALID);
    world->options.segment_bytes = JOURNAL_WORLD_SEGMENT;
    world->options.max_bytes = JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_INVALID);
}

static void another_segment_size_is_noticed(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "a");
    world->options.segment_bytes = 2 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_CONFLICT);
}

static void verify_finds_nothing_in_a_sound_journal(void **state) {
    struct journal_world *world = world_of(state);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    for (int i = 0; i < 20; i++)
        journal_world_commit(world, "a");
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "z");
    journal_world_close(world);
    journal_world_forget(world);
    struct buf report;
    buf_init_heap(&report, 1 << 16);
    assert_int_equal(
        journal_verify(&world->options, &report, journal_world_see, world, &world->err), STATUS_OK);
    assert_bytes(buf_view(&report), "");
    assert_int_equal(world->seen_count, 21);
    assert_string_equal(world->seen[20], "z");
    buf_free(&report);
}

struct reader {
    struct journal_files *journal;
    _Atomic uint64_t newest;
    _Atomic int stop;
    int wrong;
    int reads;
};

static void *read_newest(void *arg) {
    struct reader *reader = arg;
    struct buf out;
    buf_init_heap(&out, 1 << 16);
    while (!reader->stop) {
        uint64_t position = reader->newest;
        buf_clear(&out);
        enum status status = journal_world_read(reader->journal, position, &out, NULL);
        reader->reads++;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            reader->wrong++;
        if (status == STATUS_OK && !bytes_is(buf_view(&out), "shared"))
            reader->wrong++;
    }
    buf_free(&out);
    return NULL;
}

static void other_threads_read_while_it_appends_and_recycles(void **state) {
    struct journal_world *world = world_of(state);
    world->options.max_bytes = 8 * JOURNAL_WORLD_SEGMENT;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    struct reader reader = {.journal = world->journal};
    uint64_t position = journal_world_commit(world, "shared");
    reader.newest = position;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_newest, &reader), 0);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(journal_world_append(world, "shared", &position), STATUS_OK);
        reader.newest = position;
        assert_int_equal(journal_recycle(world->journal, position, &world->err), STATUS_OK);
    }
    reader.stop = 1;
    pthread_join(thread, NULL);
    assert_int_equal(reader.wrong, 0);
}

#define ON_BOTH(test)                                                                              \
    cmocka_unit_test_setup_teardown(test, on_sim, leave),                                          \
        cmocka_unit_test_setup_teardown(test, on_files, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(what_was_appended_is_read_before_and_after_the_sync),
        ON_BOTH(it_gives_back_all_records_in_order_when_opened_again),
        ON_BOTH(it_starts_at_the_position_asked_for),
        ON_BOTH(a_position_in_a_journal_that_is_gone_is_corrupt),
        ON_BOTH(an_answer_of_the_replay_stops_the_opening),
        ON_BOTH(it_goes_on_over_many_segments_and_uses_them_again),
        ON_BOTH(what_was_prepared_becomes_the_next_segment),
        ON_BOTH(nothing_is_prepared_while_nearly_all_of_the_segment_is_left),
        ON_BOTH(folded_segments_beyond_the_kept_ones_are_removed),
        ON_BOTH(a_journal_at_its_bound_is_full_until_it_is_recycled),
        ON_BOTH(a_full_journal_can_be_opened_folded_and_used),
        ON_BOTH(opening_an_idle_journal_often_takes_no_more_room),
        ON_BOTH(a_group_that_no_segment_takes_is_refused_with_the_limit),
        ON_BOTH(options_that_cannot_work_are_refused),
        ON_BOTH(another_segment_size_is_noticed),
        ON_BOTH(verify_finds_nothing_in_a_sound_journal),
        cmocka_unit_test_setup_teardown(other_threads_read_while_it_appends_and_recycles, on_files,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
