/* What port/journal.h promises, held against both who implement it: the segments on a disk, and the
 * journal in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tempdir.h"
#include "store/disk_posix.h"
#include "store/memory/journal_memory.h"
#include "store/embedded/journal/journal_embedded.h"
#include "test.h"

enum { MANY = 40, SEGMENT = 16 << 10 };

struct scene {
    const struct kind *kind;
    char dir[64];
    struct journal_medium *medium;
    struct journal *journal;
    char seen[1 << 14]; /* records of the last replay, each with a space behind it */
    uint64_t seen_at[256];
    size_t seen_count;
};

struct kind {
    const char *name;
    struct journal *(*open)(struct scene *scene);
};

static struct journal *open_embedded(struct scene *scene) {
    struct journal_options options = {
        .disk = &disk_posix, .dir = scene->dir, .segment_bytes = SEGMENT};
    return journal_embedded_new(&options);
}

static struct journal *open_memory(struct scene *scene) {
    return journal_memory_new(scene->medium);
}

static enum status note(void *arg, uint64_t position, struct bytes record) {
    struct scene *scene = arg;
    size_t len = strlen(scene->seen);
    snprintf(scene->seen + len, sizeof scene->seen - len, "%.*s ", BYTES_ARG(record));
    scene->seen_at[scene->seen_count++] = position;
    return STATUS_OK;
}

static void replay(struct scene *scene, uint64_t from) {
    struct err err = {0};
    scene->seen[0] = '\0';
    scene->seen_count = 0;
    scene->journal = scene->kind->open(scene);
    if (scene->journal->vtable->replay(scene->journal, from, note, scene, &err) != STATUS_OK)
        fail_msg("%s", err.text);
}

static struct scene *scene_new(const struct kind *kind) {
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->kind = kind;
    scene->medium = journal_medium_new();
    assert_int_equal(tempdir_make("/tmp", "impound-journal", scene->dir, sizeof scene->dir, NULL),
                     STATUS_OK);
    replay(scene, 0);
    assert_string_equal(scene->seen, "");
    return scene;
}

static void scene_reopen(struct scene *scene, uint64_t from) {
    scene->journal->vtable->close(scene->journal);
    replay(scene, from);
}

static void scene_free(struct scene *scene) {
    scene->journal->vtable->close(scene->journal);
    journal_medium_free(scene->medium);
    tempdir_remove(scene->dir);
    free(scene);
}

/* One group of two queues: 7 at epoch 1, and 8. */
static enum status append(struct scene *scene, const struct bytes *records, size_t count,
                          uint64_t epoch, uint64_t *positions, uint64_t *end) {
    struct err err;
    struct journal_claim claims[] = {{7, 1}, {8, epoch}};
    struct journal_append group = {.records = records,
                                   .count = count,
                                   .claims = claims,
                                   .claim_count = 2,
                                   .positions = positions};
    enum status status = scene->journal->vtable->append(scene->journal, &group, &err);
    if (status == STATUS_OK)
        *end = group.end;
    if (status == STATUS_FENCED)
        assert_int_equal(group.fenced, 1);
    return status;
}

static void assert_record(struct scene *scene, uint64_t position, const char *text) {
    struct journal_window window = {0};
    struct bytes record;
    struct err err = {0};
    if (scene->journal->vtable->read(scene->journal, position, &window, &record, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    assert_true(bytes_is(record, text));
    journal_window_free(&window);
}

static void what_was_appended_is_read_by_its_position_and_replayed_in_order(void **state) {
    struct scene *scene = scene_new(*state);
    struct bytes first[] = {BYTES("a"), BYTES(""), BYTES("ccc")}, second[] = {BYTES("d")};
    uint64_t at[4], end = 0, last = 0;
    assert_int_equal(scene->journal->vtable->end(scene->journal), 0);
    assert_int_equal(append(scene, first, 3, 1, at, &end), STATUS_OK);
    assert_int_equal(append(scene, second, 1, 1, at + 3, &last), STATUS_OK);
    assert_true(0 < at[0] && at[0] < at[1] && at[1] < at[2] && at[2] < end && end <= at[3]);
    assert_int_equal(scene->journal->vtable->end(scene->journal), last);
    assert_true(scene->journal->vtable->bytes(scene->journal) > 0);
    for (int round = 0; round < 2; round++) {
        assert_record(scene, at[0], "a");
        assert_record(scene, at[1], "");
        assert_record(scene, at[2], "ccc");
        assert_record(scene, at[3], "d");
        scene_reopen(scene, 0);
        assert_string_equal(scene->seen, "a  ccc d ");
        assert_memory_equal(scene->seen_at, at, sizeof at);
    }
    scene_reopen(scene, end);
    assert_string_equal(scene->seen, "d ");
    scene_reopen(scene, last);
    assert_string_equal(scene->seen, "");
    scene_free(scene);
}

static void what_is_folded_may_be_dropped_and_the_rest_stays(void **state) {
    struct scene *scene = scene_new(*state);
    struct err err;
    char text[2000];
    uint64_t at[MANY], ends[MANY];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < MANY; i++) {
        struct bytes record = {text, sizeof text - (size_t)i};
        assert_int_equal(append(scene, &record, 1, 1, &at[i], &ends[i]), STATUS_OK);
    }
    const struct journal_vtable *vtable = scene->journal->vtable;
    uint64_t full = vtable->bytes(scene->journal);
    assert_int_equal(vtable->drop(scene->journal, ends[MANY / 2 - 1], &err), STATUS_OK);
    assert_true(vtable->bytes(scene->journal) <= full);
    struct journal_window window = {.ahead = 8000};
    for (int i = MANY / 2; i < MANY; i++) {
        struct bytes record;
        assert_int_equal(vtable->read(scene->journal, at[i], &window, &record, &err), STATUS_OK);
        assert_int_equal(record.len, sizeof text - (size_t)i);
    }
    journal_window_free(&window);
    scene_reopen(scene, ends[MANY / 2 - 1]);
    assert_int_equal(scene->seen_count, MANY - MANY / 2);
    assert_int_equal(scene->seen_at[0], at[MANY / 2]);
    scene_free(scene);
}

static void a_group_that_is_too_large_leaves_nothing(void **state) {
    struct scene *scene = scene_new(*state);
    size_t len = (32 << 20) + 1;
    char *text = calloc(1, len);
    struct bytes large = {text, len}, small = BYTES("small");
    uint64_t at, end;
    assert_false(scene->journal->vtable->takes(scene->journal, 1, len));
    assert_true(scene->journal->vtable->takes(scene->journal, 1, small.len));
    assert_int_equal(append(scene, &large, 1, 1, &at, &end), STATUS_TOO_LARGE);
    assert_int_equal(append(scene, &small, 1, 1, &at, &end), STATUS_OK);
    scene_reopen(scene, 0);
    assert_string_equal(scene->seen, "small ");
    free(text);
    scene_free(scene);
}

static void a_group_of_a_former_owner_is_fenced_as_a_whole(void **state) {
    struct scene *scene = scene_new(*state);
    struct bytes records[] = {BYTES("a"), BYTES("b")};
    uint64_t at[2], end, before;
    assert_int_equal(append(scene, records, 2, 1, at, &before), STATUS_OK);
    journal_medium_grant(scene->medium, 8, 2);
    bool shared = scene->kind->open == open_memory; /* the other has its files to itself */
    assert_int_equal(append(scene, records, 2, 1, at, &end), shared ? STATUS_FENCED : STATUS_OK);
    if (shared)
        assert_int_equal(scene->journal->vtable->end(scene->journal), before);
    assert_int_equal(append(scene, records, 2, shared ? 2 : 1, at, &end), STATUS_OK);
    scene_reopen(scene, 0);
    assert_string_equal(scene->seen, shared ? "a b a b " : "a b a b a b ");
    scene_free(scene);
}

static enum status refuse(void *arg, uint64_t position, struct bytes record) {
    (void)position, (void)record;
    ++*(int *)arg;
    return STATUS_CORRUPT;
}

static void an_answer_that_is_not_ok_ends_a_replay(void **state) {
    struct scene *scene = scene_new(*state);
    struct bytes records[] = {BYTES("a"), BYTES("b")};
    uint64_t at[2], end;
    int visits = 0;
    struct err err;
    assert_int_equal(append(scene, records, 2, 1, at, &end), STATUS_OK);
    scene->journal->vtable->close(scene->journal);
    scene->journal = scene->kind->open(scene);
    assert_int_equal(scene->journal->vtable->replay(scene->journal, 0, refuse, &visits, &err),
                     STATUS_CORRUPT);
    assert_int_equal(visits, 1);
    scene_free(scene);
}

#define TESTS(kind)                                                                                \
    cmocka_unit_test_prestate(what_was_appended_is_read_by_its_position_and_replayed_in_order,     \
                              &(kind)),                                                            \
        cmocka_unit_test_prestate(what_is_folded_may_be_dropped_and_the_rest_stays, &(kind)),      \
        cmocka_unit_test_prestate(a_group_that_is_too_large_leaves_nothing, &(kind)),              \
        cmocka_unit_test_prestate(a_group_of_a_former_owner_is_fenced_as_a_whole, &(kind)),        \
        cmocka_unit_test_prestate(an_answer_that_is_not_ok_ends_a_replay, &(kind))

int main(void) {
    static struct kind embedded = {"embedded", open_embedded}, memory = {"memory", open_memory};
    const struct CMUnitTest tests[] = {TESTS(embedded), TESTS(memory)};
    return cmocka_run_group_tests_name("journal contract", tests, NULL, NULL);
}
