/* The flood guard: what is counted, what it halts, what outlives a restart (SEMANTICS 4.9). The
 * rule itself is tests/table/flood.txt. */
#include "rig.h"

#include <stdio.h>
#include <string.h>

enum { OF = 10, HOUR_MS = 3600 * 1000 };

static struct rig *rig_guarded(enum flood_then then) {
    struct rig *rig = rig_new((struct rig_options){0});
    rig->policy.breaker.off = true;
    rig->concurrency = 100;
    rig->rules.flood = (struct flood_policy){
        .share_permille = 800, .of = OF, .window_ms = 60 * 1000, .then = then};
    rig_open(rig);
    return rig;
}

static struct outcome failure(const char *type, const char *version) {
    struct outcome outcome = rig_outcome(KIND_STATUS, 400);
    outcome.error_type = bytes_of(type);
    outcome.version = bytes_of(version);
    return outcome;
}

static void push_one(struct rig *rig) {
    static unsigned number;
    char id[RIG_ID_SIZE];
    snprintf(id, sizeof id, "f%u", ++number);
    rig_push(rig, id);
}

/* So many die like this at their first attempt. */
static void die(struct rig *rig, size_t count, const char *type, const char *version) {
    for (size_t i = 0; i < count; i++)
        push_one(rig);
    rig_rest(rig);
    for (size_t i = 0; i < rig->call_count; i++)
        if (rig->calls[i].call)
            rig_answer(rig, rig->calls[i].id, failure(type, version));
    rig_rest(rig);
}

static void a_flood_is_shown_with_its_group_and_the_consumers_version(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_ALERT);
    die(rig, OF - 1, "KeyError", "v2");
    assert_false(rig_view(rig).flood.on);
    die(rig, 1, "KeyError", "v2");
    struct engine_queue_view view = rig_view(rig);
    assert_true(view.flood.on);
    assert_string_equal(view.flood.version, "v2");
    assert_string_equal(view.flood.dlq, "q.dlq");
    assert_string_equal(view.flood.reason, "bad_request");
    assert_int_equal(view.flood.dead, OF);
    assert_int_equal(view.flood.of, OF);
    assert_true(view.flood.fingerprint != 0);
    assert_int_equal(view.state, QUEUE_RUNNING);
    rig_pass(rig, 61 * 1000);
    assert_false(rig_view(rig).flood.on);
    rig_free(rig);
}

static void hold_halts_the_queue_without_asking_others(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_HOLD);
    die(rig, OF, "KeyError", "v2");
    struct engine_queue_view view = rig_view(rig);
    assert_int_equal(view.state, QUEUE_HALTED);
    assert_non_null(strstr(view.why, "flood: 10 of 10 first attempts died of group "));
    assert_non_null(strstr(view.why, "consumer version v2"));
    size_t calls = rig->call_count;
    push_one(rig);
    rig_pass(rig, 2 * HOUR_MS);
    assert_int_equal(rig->call_count, calls);
    assert_true(rig_view(rig).flood.on);
    assert_true(rig_view(rig).flood.held);
    rig_restart(rig);
    rig_rest(rig);
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    assert_true(rig_view(rig).flood.on);
    assert_string_equal(rig_view(rig).flood.version, "v2");
    rig_free(rig);
}

static void resume_lets_the_group_pass_until_the_version_changes(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_HOLD);
    die(rig, OF, "KeyError", "v1");
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    assert_false(rig_view(rig).flood.on);
    die(rig, 2 * OF, "KeyError", "v1");
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    rig_restart(rig); /* the pass outlives it */
    die(rig, 2 * OF, "KeyError", "v1");
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    rig_free(rig);
}

static void another_group_floods_in_spite_of_the_pass(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_HOLD);
    die(rig, OF, "KeyError", "v1");
    rig_ask(rig, ENGINE_RESUME, NULL);
    rig_rest(rig);
    rig_pass(rig, 61 * 1000);
    die(rig, OF, "ValueError", "v1");
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    rig_free(rig);
}

static void the_hour_before_outlives_a_restart(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_HOLD);
    /* One of six died of it, hour by hour: that is usual. */
    for (int i = 0; i < 6; i++) {
        die(rig, 5, "Other", "v1");
        rig_pass(rig, 61 * 1000);
        die(rig, 4, "KeyError", "v1");
        rig_pass(rig, 61 * 1000);
    }
    rig_restart(rig);
    rig_pass(rig, 3 * 60 * 1000);
    die(rig, 2 * OF, "KeyError", "v1");
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    rig_free(rig);
}

static void replayed_letters_and_retries_are_not_counted(void **state) {
    (void)state;
    struct rig *rig = rig_guarded(FLOOD_HOLD);
    die(rig, OF - 1, "KeyError", "v1");
    rig_replay(rig, rig->calls[0].id);
    die(rig, 0, "KeyError", "v1"); /* the replayed one */
    assert_int_equal(rig_view(rig).state, QUEUE_RUNNING);
    die(rig, 1, "KeyError", "v1");
    assert_int_equal(rig_view(rig).state, QUEUE_HALTED);
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_shown_with_its_group_and_the_consumers_version),
        cmocka_unit_test(hold_halts_the_queue_without_asking_others),
        cmocka_unit_test(resume_lets_the_group_pass_until_the_version_changes),
        cmocka_unit_test(another_group_floods_in_spite_of_the_pass),
        cmocka_unit_test(the_hour_before_outlives_a_restart),
        cmocka_unit_test(replayed_letters_and_retries_are_not_counted),
    };
    return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
