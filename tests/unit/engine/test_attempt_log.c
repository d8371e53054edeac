/* The attempt log: what our death interrupted is known at the next start, and nothing else. */
#include "rig.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "engine/attempt/attempt_log.h"

enum { SLOT_SIZE = 24, SLOTS_MAX = 1 << 20 };

static char folder[64], path[96], copy_path[96];

static int make_folder(void **state) {
    (void)state;
    if (tempdir_make("/tmp", "impound-recorder", folder, sizeof folder, NULL))
        return -1;
    snprintf(path, sizeof path, "%s/flights", folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    tempdir_remove(folder);
    return 0;
}

static struct attempt_log *open_recorder(const char *at) {
    struct attempt_log *attempt_log = attempt_log_new();
    assert_int_equal(attempt_log_open(attempt_log, at, NULL), STATUS_OK);
    return attempt_log;
}

static void write_file(const char *at, const void *data, size_t len) {
    FILE *file = fopen(at, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static bool claims(struct attempt_log *attempt_log, uint64_t seq) {
    struct attempt_log_entry entry;
    return attempt_log_claim(attempt_log, seq, &entry);
}

static void without_a_file_it_remembers_nothing(void **state) {
    (void)state;
    struct attempt_log *attempt_log = attempt_log_new();
    uint32_t one = attempt_log_note(attempt_log, 7, 1, (struct wall){1000}, ATTEMPT_LOG_FOREIGN);
    uint32_t two = attempt_log_note(attempt_log, 8, 1, (struct wall){1000}, ATTEMPT_LOG_FOREIGN);
    assert_int_not_equal(one, ATTEMPT_LOG_NO_SLOT);
    assert_int_not_equal(two, ATTEMPT_LOG_NO_SLOT);
    assert_int_not_equal(one, two);
    assert_false(claims(attempt_log, 7));
    attempt_log_clear(attempt_log, one);
    attempt_log_clear(attempt_log, two);
    attempt_log_free(attempt_log);
}

static void a_message_that_the_store_does_not_hold_has_no_slot(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    assert_int_equal(attempt_log_note(attempt_log, 0, 1, (struct wall){1000}, ATTEMPT_LOG_FOREIGN),
                     ATTEMPT_LOG_NO_SLOT);
    attempt_log_clear(attempt_log, ATTEMPT_LOG_NO_SLOT);
    attempt_log_free(attempt_log);
}

static void a_slot_that_was_cleared_is_used_again(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    for (uint64_t seq = 1; seq <= 100000; seq++)
        attempt_log_clear(attempt_log, attempt_log_note(attempt_log, seq, 1, (struct wall){1},
                                                        ATTEMPT_LOG_FOREIGN));
    attempt_log_free(attempt_log);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    assert_true(ftell(file) < 100000l * SLOT_SIZE / 10);
    fclose(file);
}

static void what_was_not_cleared_is_claimed_once_by_the_next_run(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    attempt_log_note(attempt_log, 11, 3, (struct wall){5000}, ATTEMPT_LOG_FOREIGN);
    uint32_t ended = attempt_log_note(attempt_log, 12, 1, (struct wall){6000}, ATTEMPT_LOG_FOREIGN);
    attempt_log_note(attempt_log, 13, 1, (struct wall){7000}, ATTEMPT_LOG_FOREIGN);
    attempt_log_clear(attempt_log, ended);
    attempt_log_free(attempt_log);

    struct attempt_log_entry entry;
    attempt_log = open_recorder(path);
    assert_true(attempt_log_claim(attempt_log, 11, &entry));
    assert_int_equal(entry.seq, 11);
    assert_int_equal(entry.attempt, 3);
    assert_int_equal(entry.started_at.ms, 5000);
    assert_false(claims(attempt_log, 11));
    assert_false(claims(attempt_log, 12));
    assert_false(claims(attempt_log, 0));
    attempt_log_free(attempt_log);

    attempt_log = open_recorder(path); /* nothing was handed over by that run */
    assert_false(claims(attempt_log, 13));
    attempt_log_free(attempt_log);
}

static void it_grows_with_what_is_under_way(void **state) {
    (void)state;
    enum { MANY = 5000 };
    struct attempt_log *attempt_log = open_recorder(path);
    for (uint64_t seq = 1; seq <= MANY; seq++)
        assert_int_not_equal(
            attempt_log_note(attempt_log, seq, 1, (struct wall){(int64_t)seq}, ATTEMPT_LOG_FOREIGN),
            ATTEMPT_LOG_NO_SLOT);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    for (uint64_t seq = 1; seq <= MANY; seq++) {
        struct attempt_log_entry entry;
        assert_true(attempt_log_claim(attempt_log, seq, &entry));
        assert_int_equal(entry.started_at.ms, seq);
    }
    attempt_log_free(attempt_log);
}

static uint64_t file_size(void) {
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return (uint64_t)found.st_size;
}

/* More than a million at once: what is beyond has no slot, and the file does not grow for it. */
static void it_has_a_bound_and_what_is_beyond_goes_unrecorded(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    uint64_t noted = 0;
    while (attempt_log_note(attempt_log, noted + 1, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN) !=
           ATTEMPT_LOG_NO_SLOT)
        assert_true(++noted < SLOTS_MAX);
    assert_int_equal(noted, SLOTS_MAX - 1); /* the first is the header */
    assert_int_equal(file_size(), (uint64_t)SLOTS_MAX * SLOT_SIZE);
    attempt_log_end(attempt_log, ATTEMPT_LOG_NO_SLOT);
    attempt_log_clear(attempt_log, ATTEMPT_LOG_NO_SLOT);
    uint32_t slot = SLOTS_MAX / 2;
    attempt_log_clear(attempt_log, slot);
    assert_int_equal(
        attempt_log_note(attempt_log, SLOTS_MAX, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN), slot);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path); /* of those that have one nothing is forgotten */
    assert_true(claims(attempt_log, 1));
    assert_true(claims(attempt_log, SLOTS_MAX));
    attempt_log_free(attempt_log);
}

static void a_file_that_is_longer_than_the_bound_is_not_mapped_whole(void **state) {
    (void)state;
    write_file(path, "strange", 7);
    assert_int_equal(truncate(path, ((off_t)SLOTS_MAX + 1) * SLOT_SIZE), 0);
    struct attempt_log *attempt_log = open_recorder(path);
    assert_true(file_size() < (uint64_t)SLOTS_MAX * SLOT_SIZE);
    assert_int_not_equal(attempt_log_note(attempt_log, 7, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN),
                         ATTEMPT_LOG_NO_SLOT);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    assert_true(claims(attempt_log, 7));
    attempt_log_free(attempt_log);
}

static void a_file_that_was_cut_off_tells_what_is_left_of_it(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    uint32_t first = attempt_log_note(attempt_log, 11, 1, (struct wall){5000}, ATTEMPT_LOG_FOREIGN);
    uint32_t second =
        attempt_log_note(attempt_log, 12, 1, (struct wall){5000}, ATTEMPT_LOG_FOREIGN);
    assert_true(first < second);
    attempt_log_free(attempt_log);
    assert_int_equal(truncate(path, (off_t)second * SLOT_SIZE + SLOT_SIZE / 2), 0);
    attempt_log = open_recorder(path);
    assert_true(claims(attempt_log, 11));
    assert_false(claims(attempt_log, 12));
    assert_int_not_equal(
        attempt_log_note(attempt_log, 12, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN),
        ATTEMPT_LOG_NO_SLOT);
    attempt_log_free(attempt_log);
}

static enum attempt_log_state state_of(struct attempt_log *attempt_log, uint64_t seq) {
    const struct attempt_log_entry *entry = attempt_log_find(attempt_log, seq);
    return entry ? entry->state : ATTEMPT_LOG_FOREIGN;
}

static void who_was_inside_when_we_died_is_kept_until_it_is_cleared(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    attempt_log_note(attempt_log, 1, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING);
    attempt_log_note(attempt_log, 2, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING);
    attempt_log_end(attempt_log,
                    attempt_log_note(attempt_log, 3, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING));
    attempt_log_free(attempt_log);
    for (int life = 0; life < 3; life++) {
        attempt_log = open_recorder(path);
        assert_int_equal(state_of(attempt_log, 1), ATTEMPT_LOG_SUSPECT);
        assert_int_equal(state_of(attempt_log, 2), ATTEMPT_LOG_SUSPECT);
        assert_int_equal(attempt_log_find(attempt_log, 3) != NULL, life == 0);
        attempt_log_free(attempt_log);
    }
    attempt_log = open_recorder(path);
    struct attempt_log_entry entry;
    assert_true(attempt_log_claim(attempt_log, 1, &entry));
    attempt_log_clear(attempt_log, entry.slot);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    assert_false(claims(attempt_log, 1));
    assert_true(claims(attempt_log, 2));
    attempt_log_free(attempt_log);
}

static void who_was_inside_alone_is_to_blame(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    attempt_log_note(attempt_log, 1, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING);
    attempt_log_end(attempt_log,
                    attempt_log_note(attempt_log, 2, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING));
    attempt_log_note(attempt_log, 3, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    assert_int_equal(state_of(attempt_log, 1), ATTEMPT_LOG_BLAMED);
    attempt_log_note(attempt_log, 4, 1, (struct wall){1}, ATTEMPT_LOG_ALONE);
    attempt_log_note(attempt_log, 5, 1, (struct wall){1}, ATTEMPT_LOG_RUNNING);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    assert_int_equal(state_of(attempt_log, 1), ATTEMPT_LOG_BLAMED);
    assert_int_equal(state_of(attempt_log, 4), ATTEMPT_LOG_BLAMED);
    assert_int_equal(state_of(attempt_log, 5), ATTEMPT_LOG_SUSPECT);
    attempt_log_free(attempt_log);
}

/* A death between the note of its turn and the end of the note before. */
static void a_suspect_that_stands_there_twice_is_blamed_once(void **state) {
    (void)state;
    struct attempt_log *attempt_log = open_recorder(path);
    attempt_log_note(attempt_log, 1, 1, (struct wall){1}, ATTEMPT_LOG_SUSPECT);
    attempt_log_note(attempt_log, 1, 1, (struct wall){1}, ATTEMPT_LOG_ALONE);
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    struct attempt_log_entry entry;
    assert_true(attempt_log_claim(attempt_log, 1, &entry));
    assert_int_equal(entry.state, ATTEMPT_LOG_BLAMED);
    attempt_log_clear(attempt_log, entry.slot);
    assert_false(claims(attempt_log, 1));
    attempt_log_free(attempt_log);
    attempt_log = open_recorder(path);
    assert_false(claims(attempt_log, 1));
    attempt_log_free(attempt_log);
}

/* In either order of the slots. */
static void of_two_attempts_the_later_one_is_remembered(void **state) {
    (void)state;
    for (uint32_t first = 1; first <= 2; first++) {
        struct attempt_log *attempt_log = open_recorder(path);
        attempt_log_note(attempt_log, 1, first, (struct wall){1}, ATTEMPT_LOG_BLAMED);
        attempt_log_note(attempt_log, 1, 3 - first, (struct wall){1}, ATTEMPT_LOG_BLAMED);
        attempt_log_free(attempt_log);
        attempt_log = open_recorder(path);
        struct attempt_log_entry entry;
        assert_true(attempt_log_claim(attempt_log, 1, &entry));
        assert_int_equal(entry.attempt, 2);
        attempt_log_clear(attempt_log, entry.slot);
        attempt_log_free(attempt_log);
        attempt_log = open_recorder(path);
        assert_false(claims(attempt_log, 1));
        attempt_log_free(attempt_log);
    }
}

static void a_file_of_somebody_else_tells_nothing(void **state) {
    (void)state;
    static const char foreign[4096] = "not a flight recorder, but long enough to be one";
    static const size_t sizes[] = {0, 1, SLOT_SIZE - 1, SLOT_SIZE, sizeof foreign};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        write_file(path, foreign, sizes[i]);
        struct attempt_log *attempt_log = open_recorder(path);
        uint64_t seq;
        memcpy(&seq, foreign + SLOT_SIZE, sizeof seq);
        assert_false(claims(attempt_log, seq));
        attempt_log_note(attempt_log, 21, 1, (struct wall){1}, ATTEMPT_LOG_FOREIGN);
        attempt_log_free(attempt_log);
        attempt_log = open_recorder(path);
        assert_true(claims(attempt_log, 21));
        attempt_log_free(attempt_log);
    }
}

static void a_file_that_cannot_be_made_is_named(void **state) {
    (void)state;
    struct err err;
    struct attempt_log *attempt_log = attempt_log_new();
    assert_int_equal(attempt_log_open(attempt_log, "/nowhere/at/all", &err), STATUS_IO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    attempt_log_free(attempt_log);
}

/* ---- in the engine's hands ---- */

static void what_our_death_interrupted_stands_in_the_history(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.attempt_log_path = path});
    rig_push(rig, "a");
    assert_non_null(rig_look(rig, "a"));
    struct attempt_log *last_run = open_recorder(path);
    attempt_log_note(last_run, rig->looked_at->seq, 1, (struct wall){1600000000000},
                     ATTEMPT_LOG_FOREIGN);
    attempt_log_free(last_run);
    rig_open(rig);
    rig_rest(rig);
    assert_int_equal(rig_call(rig, "a")->attempt, 1);
    rig_fail(rig, "a", 503);
    const struct envelope *envelope = rig_look(rig, "a");
    assert_int_equal(envelope->attempts, 1);
    assert_int_equal(envelope->crashes, 0);
    assert_int_equal(envelope->history_count, 2);
    assert_true(envelope->history[0].interrupted);
    assert_false(envelope->history[0].counted);
    assert_int_equal(envelope->history[0].at.ms, 1600000000000);
    assert_true(envelope->history[1].counted);
    rig_pass(rig, 1000);
    rig_fail(rig, "a", 503);
    assert_int_equal(rig_look(rig, "a")->history_count, 3);
    rig_free(rig);
}

/* As a death would leave it: the file is copied while the engine runs. */
static struct attempt_log *recorder_after_a_death(void) {
    char data[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(data, 1, sizeof data, file);
    fclose(file);
    write_file(copy_path, data, len);
    return open_recorder(copy_path);
}

static void a_message_is_on_record_until_its_end_is_durable(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.attempt_log_path = path, .deferred = true});
    rig_open(rig);
    rig_push(rig, "a");
    rig_rest(rig);
    assert_non_null(rig_look(rig, "a"));
    uint64_t seq = rig->looked_at->seq;
    rig_succeed(rig, "a");
    struct attempt_log *attempt_log = recorder_after_a_death();
    assert_true(claims(attempt_log, seq));
    attempt_log_free(attempt_log);
    rig_store(rig);
    attempt_log = recorder_after_a_death();
    assert_false(claims(attempt_log, seq));
    attempt_log_free(attempt_log);
    rig_free(rig);
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_it_remembers_nothing),
        with_folder(a_message_that_the_store_does_not_hold_has_no_slot),
        with_folder(a_slot_that_was_cleared_is_used_again),
        with_folder(what_was_not_cleared_is_claimed_once_by_the_next_run),
        with_folder(it_grows_with_what_is_under_way),
        with_folder(it_has_a_bound_and_what_is_beyond_goes_unrecorded),
        with_folder(a_file_that_is_longer_than_the_bound_is_not_mapped_whole),
        with_folder(a_file_that_was_cut_off_tells_what_is_left_of_it),
        with_folder(who_was_inside_when_we_died_is_kept_until_it_is_cleared),
        with_folder(who_was_inside_alone_is_to_blame),
        with_folder(a_suspect_that_stands_there_twice_is_blamed_once),
        with_folder(of_two_attempts_the_later_one_is_remembered),
        with_folder(a_file_of_somebody_else_tells_nothing),
        cmocka_unit_test(a_file_that_cannot_be_made_is_named),
        with_folder(what_our_death_interrupted_stands_in_the_history),
        with_folder(a_message_is_on_record_until_its_end_is_durable),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
