/* The journal on a disk that fails: what was synced is there, in order; of what was appended after
 * that, whole groups from the front may be; what was refused never is. */
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "base/rng.h"
#include "journal_world.h"
#include "sim_disk.h"

enum {
    GROUPS_MAX = 4096,
    TEXT_MAX = 32,
    ROUNDS = 1000,
    ROUNDS_PER_DISK = 20,
    GROUP_RECORDS_MAX = 4
};

/* What a group is to its writer. A refusal holds for certain once the journal went on behind it;
 * before, when the disk took not even that word, it may come back like any unsynced one. */
enum fate { APPENDED, SYNCED, REFUSED };

struct group {
    enum fate fate;
    size_t first; /* number in its first record; the others follow */
    size_t count;
    uint64_t position; /* of its first record */
};

struct model {
    struct sim_disk *sim;
    struct journal_world world;
    struct rng rng;
    struct group groups[GROUPS_MAX]; /* those that may be there */
    size_t group_count;
    size_t next_record;
    uint64_t folded;
};

static const char *text_of(size_t number, char text[TEXT_MAX]) {
    snprintf(text, TEXT_MAX, "record-%zu", number);
    return text;
}

static void model_start(struct model *model, uint64_t seed) {
    memset(model, 0, sizeof *model);
    rng_seed(&model->rng, seed);
    model->sim = sim_disk_new(seed * 7919 + 1);
    struct disk *disk = sim_disk_port(model->sim);
    assert_int_equal(disk->vtable->make_dir(disk, "/sim"), 0);
    assert_int_equal(disk->vtable->sync_dir(disk, "/"), 0);
    journal_world_init(&model->world, disk, "/sim/db.d");
    model->world.options.max_bytes = 6 * JOURNAL_WORLD_SEGMENT;
}

static void model_stop(struct model *model) {
    journal_world_free(&model->world);
    sim_disk_free(model->sim);
}

/* What was refused is out for good: the journal stands behind it now. */
static void drop_refused(struct model *model) {
    size_t kept = 0;
    for (size_t i = 0; i < model->group_count; i++)
        if (model->groups[i].fate != REFUSED)
            model->groups[kept++] = model->groups[i];
    model->group_count = kept;
}

static void model_append(struct model *model) {
    char texts[GROUP_RECORDS_MAX][TEXT_MAX] = {{0}};
    char *large = NULL;
    struct bytes records[GROUP_RECORDS_MAX];
    uint64_t positions[GROUP_RECORDS_MAX];
    struct group group = {.first = model->next_record,
                          .count = 1 + rng_below(&model->rng, GROUP_RECORDS_MAX)};
    for (size_t i = 0; i < group.count; i++)
        records[i] = bytes_of(text_of(group.first + i, texts[i]));
    /* Some groups are of several blocks. */
    if (rng_below(&model->rng, 3) == 0) {
        size_t len = rng_below(&model->rng, 3 * JOURNAL_BLOCK) + TEXT_MAX;
        large = calloc(1, len);
        assert_non_null(large);
        memcpy(large, texts[0], TEXT_MAX);
        records[0] = (struct bytes){large, len};
    }
    model->next_record += group.count;
    enum status status =
        journal_append(model->world.journal, records, group.count, positions, &model->world.err);
    free(large);
    if (status == STATUS_OK)
        drop_refused(model);
    group.fate = status ? REFUSED : APPENDED;
    group.position = status ? 0 : positions[0];
    assert_true(model->group_count < GROUPS_MAX);
    model->groups[model->group_count++] = group;
}

static void model_sync(struct model *model) {
    bool ok = journal_sync(model->world.journal, &model->world.err) == STATUS_OK;
    for (size_t i = 0; i < model->group_count; i++)
        if (model->groups[i].fate == APPENDED)
            model->groups[i].fate = ok ? SYNCED : REFUSED;
}

/* A fold takes all that is synced when nothing waits for a sync. */
static void model_fold(struct model *model) {
    for (size_t i = 0; i < model->group_count; i++)
        if (model->groups[i].fate != SYNCED)
            return;
    model->folded = journal_end(model->world.journal);
    model->group_count = 0;
    assert_int_equal(journal_recycle(model->world.journal, model->folded, &model->world.err),
                     STATUS_OK);
}

static void model_step(struct model *model) {
    uint64_t dice = rng_below(&model->rng, 11);
    if (dice < 5)
        model_append(model);
    else if (dice < 9)
        model_sync(model);
    else if (dice < 10)
        model_fold(model);
    else
        (void)journal_prepare(model->world.journal, &model->world.err);
}

static void expect_group(const struct model *model, const struct group *group, size_t at) {
    char text[TEXT_MAX];
    for (size_t i = 0; i < group->count; i++) {
        assert_true(at + i < model->world.seen_count);
        assert_string_equal(model->world.seen[at + i], text_of(group->first + i, text));
    }
    if (group->position)
        assert_int_equal(model->world.seen_at[at], group->position);
}

static void expect_reads(struct model *model) {
    struct buf out;
    buf_init_heap(&out, JOURNAL_WORLD_SEGMENT);
    for (size_t i = 0; i < model->world.seen_count; i++) {
        buf_clear(&out);
        assert_int_equal(journal_world_read(model->world.journal, model->world.seen_at[i], &out,
                                            &model->world.err),
                         STATUS_OK);
        assert_string_equal(buf_cstr(&out), model->world.seen[i]);
    }
    buf_free(&out);
}

static bool is_next(const struct model *model, const struct group *group, size_t at) {
    char text[TEXT_MAX];
    return at < model->world.seen_count &&
           strcmp(model->world.seen[at], text_of(group->first, text)) == 0;
}

/* Opens, compares, and takes what came back as synced, which it is now. An appended group that is
 * missing ends the list; one that was refused may be missing anywhere. */
static void model_recover(struct model *model) {
    enum status status = journal_world_open(&model->world, model->folded);
    if (status)
        print_error("%s\n", model->world.err.text);
    assert_int_equal(status, STATUS_OK);
    size_t seen = 0, kept = 0;
    bool ended = false;
    for (size_t i = 0; i < model->group_count; i++) {
        struct group group = model->groups[i];
        if (group.fate != SYNCED && !is_next(model, &group, seen)) {
            ended = ended || group.fate == APPENDED;
            continue;
        }
        assert_false(ended);
        expect_group(model, &group, seen);
        seen += group.count;
        group.fate = SYNCED;
        model->groups[kept++] = group;
    }
    model->group_count = kept;
    assert_int_equal(seen, model->world.seen_count);
    expect_reads(model);
}

static void cut_power(struct model *model) {
    journal_world_close(&model->world);
    sim_disk_crash(model->sim);
}

static void a_thousand_crashes_lose_nothing_that_was_synced(void **state) {
    (void)state;
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    for (uint64_t seed = 0; seed < ROUNDS / ROUNDS_PER_DISK; seed++) {
        model_start(model, seed);
        model_recover(model);
        for (int round = 0; round < ROUNDS_PER_DISK; round++) {
            sim_disk_crash_at(model->sim, 1 + rng_below(&model->rng, 60));
            if (rng_below(&model->rng, 2))
                sim_disk_fail_after(model->sim, rng_below(&model->rng, 30),
                                    1 + rng_below(&model->rng, 3),
                                    rng_below(&model->rng, 2) ? EIO : ENOSPC);
            for (int step = 0; step < 200 && !sim_disk_is_dead(model->sim); step++)
                model_step(model);
            if (sim_disk_is_dead(model->sim) || rng_below(&model->rng, 2))
                cut_power(model);
            /* else only the process was killed */
            sim_disk_crash_at(model->sim, 0);
            sim_disk_fail_after(model->sim, 0, 0, EIO);
            model_recover(model);
        }
        model_stop(model);
    }
    free(model);
}

/* A short life that meets every kind of call: first segment, rotation, recycling. */
static void short_life(struct model *model) {
    if (journal_world_open(&model->world, model->folded))
        return;
    for (size_t i = 0; i < 30 && !sim_disk_is_dead(model->sim); i++) {
        model_append(model);
        if (i % 3 != 2)
            model_sync(model);
        if (i % 11 == 10)
            model_fold(model);
    }
}

static void a_crash_at_any_call_loses_nothing_that_was_synced(void **state) {
    (void)state;
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    bool died = true;
    for (uint64_t call = 1; died; call++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            model_start(model, seed);
            sim_disk_crash_at(model->sim, call);
            short_life(model);
            died = sim_disk_is_dead(model->sim);
            cut_power(model);
            model_recover(model);
            short_life(model);
            cut_power(model);
            model_recover(model);
            model_stop(model);
        }
        assert_true(call < 1000);
    }
    free(model);
}

static void a_crash_at_any_call_of_the_opening_changes_nothing(void **state) {
    (void)state;
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    bool died = true;
    for (uint64_t call = 1; died; call++) {
        model_start(model, call);
        short_life(model);
        cut_power(model);
        sim_disk_crash_at(model->sim, call);
        bool opened = journal_world_open(&model->world, model->folded) == STATUS_OK;
        died = sim_disk_is_dead(model->sim);
        assert_true(opened != died);
        cut_power(model);
        model_recover(model);
        model_stop(model);
    }
    free(model);
}

/* Any one call fails and the disk then goes on. Whatever was refused must stay away. */
static void what_was_refused_never_comes_back(void **state) {
    (void)state;
    struct model *model = malloc(sizeof *model);
    assert_non_null(model);
    for (uint64_t call = 0; call < 120; call++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            model_start(model, seed);
            model_recover(model);
            sim_disk_fail_after(model->sim, call, 1, seed % 2 ? EIO : ENOSPC);
            short_life(model);
            drop_refused(model);
            cut_power(model);
            model_recover(model);
            model_stop(model);
        }
    }
    free(model);
}

static void a_failed_sync_then_a_commit_then_a_crash(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct model *model = calloc(1, sizeof *model);
        assert_non_null(model);
        model_start(model, seed);
        struct journal_world *world = &model->world;
        uint64_t position;
        assert_int_equal(journal_world_open(world, 0), STATUS_OK);
        journal_world_commit(world, "kept");
        assert_int_equal(journal_world_append(world, "refused", &position), STATUS_OK);
        sim_disk_fail_after(model->sim, 0, 1, EIO);
        assert_int_equal(journal_sync(world->journal, &world->err), STATUS_IO);
        if (seed % 2)
            journal_world_commit(world, "later");
        cut_power(model);
        assert_int_equal(journal_world_open(world, 0), STATUS_OK);
        journal_world_expect(world, seed % 2 ? "kept later" : "kept");
        model_stop(model);
        free(model);
    }
}

static void a_group_refused_by_a_lost_neighbour_is_told_at_the_sync(void **state) {
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model_start(model, 3);
    struct journal_world *world = &model->world;
    uint64_t position;
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_commit(world, "kept");
    assert_int_equal(journal_world_append(world, "lost", &position), STATUS_OK);
    /* The write fails, and so does the sync that would save what stands before it. */
    sim_disk_fail_after(model->sim, 0, 2, EIO);
    assert_int_equal(journal_world_append(world, "refused", &position), STATUS_IO);
    assert_int_equal(journal_world_append(world, "refused", &position), STATUS_IO);
    assert_int_equal(journal_sync(world->journal, &world->err), STATUS_IO);
    journal_world_commit(world, "later");
    cut_power(model);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    journal_world_expect(world, "kept later");
    model_stop(model);
    free(model);
}

static void a_full_disk_is_full_and_not_fatal(void **state) {
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model_start(model, 4);
    struct journal_world *world = &model->world;
    sim_disk_set_capacity(model->sim, 2 * JOURNAL_WORLD_SEGMENT);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    uint64_t position;
    size_t taken = 0;
    enum status status;
    while ((status = journal_world_append(world, "x", &position)) == STATUS_OK)
        taken++;
    assert_int_equal(status, STATUS_FULL);
    assert_int_equal(taken, 2 * 7);
    sim_disk_set_capacity(model->sim, 0);
    journal_world_commit(world, "y");
    cut_power(model);
    assert_int_equal(journal_world_open(world, 0), STATUS_OK);
    assert_int_equal(world->seen_count, taken + 1);
    model_stop(model);
    free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_crashes_lose_nothing_that_was_synced),
        cmocka_unit_test(a_crash_at_any_call_loses_nothing_that_was_synced),
        cmocka_unit_test(a_crash_at_any_call_of_the_opening_changes_nothing),
        cmocka_unit_test(what_was_refused_never_comes_back),
        cmocka_unit_test(a_failed_sync_then_a_commit_then_a_crash),
        cmocka_unit_test(a_group_refused_by_a_lost_neighbour_is_told_at_the_sync),
        cmocka_unit_test(a_full_disk_is_full_and_not_fatal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
