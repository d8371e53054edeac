/* Which state of an attempt may follow which: the picture of engine/attempt/attempt.h. */
#include <string.h>

#include "rig.h"

/* A letter for each state: New Editing Batched Calling Leased Answered Replying asKing Judging
 * reTurning Sending Decided Mirroring cOmmitting Postponed. */
static const char letters[] = "NEBCLARKJTSDMOP";

/* What may come before, as the picture has it. */
static const char *const before[ATTEMPT_STATES] = {
    [ATTEMPT_NEW] = "",          [ATTEMPT_EDITING] = "NJ",     [ATTEMPT_BATCHED] = "NEJ",
    [ATTEMPT_CALLING] = "NEJ",   [ATTEMPT_LEASED] = "NO",      [ATTEMPT_ANSWERED] = "BCL",
    [ATTEMPT_REPLYING] = "BCLA", [ATTEMPT_ASKING] = "NEBCLAR", [ATTEMPT_JUDGING] = "NEBCLARK",
    [ATTEMPT_RETURNING] = "J",   [ATTEMPT_SENDING] = "N",      [ATTEMPT_DECIDED] = "NLJS",
    [ATTEMPT_MIRRORING] = "D",   [ATTEMPT_COMMITTING] = "DM",  [ATTEMPT_POSTPONED] = "MOP",
};

static void only_the_steps_of_the_picture_are_allowed(void **state) {
    (void)state;
    for (int from = 0; from < ATTEMPT_STATES; from++)
        for (int to = 0; to < ATTEMPT_STATES; to++)
            assert_int_equal(attempt_may((enum attempt_state)from, (enum attempt_state)to),
                             strchr(before[to], letters[from]) != NULL);
}

static struct attempt *only_attempt(struct rig *rig) {
    struct queue *queue = rig->engine->queues[0];
    assert_false(list_empty(&queue->attempts));
    return CONTAINER_OF(queue->attempts.next, struct attempt, link);
}

static void a_message_is_called_and_then_committed(void **state) {
    (void)state;
    struct rig *rig = rig_new((struct rig_options){.deferred = true});
    rig_open(rig);
    rig_push_many(rig, 1);
    rig_rest(rig);
    assert_int_equal(only_attempt(rig)->state, ATTEMPT_CALLING);
    rig_answer(rig, "m1", rig_outcome(KIND_STATUS, 404));
    rig_turn(rig);
    assert_int_equal(only_attempt(rig)->state, ATTEMPT_COMMITTING);
    rig_store(rig);
    rig_rest(rig);
    assert_true(list_empty(&rig->engine->queues[0]->attempts));
    rig_free(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_steps_of_the_picture_are_allowed),
        cmocka_unit_test(a_message_is_called_and_then_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
