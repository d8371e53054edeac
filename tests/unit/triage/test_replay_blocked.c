/* Which states of a queue keep a replay from sending, and what people are told of it. */
#include "test.h"

#include "triage/replay/replay_blocked.h"

static const struct {
    struct replay_queue_state state;
    const char *blocked, *cut_off;
} cases[] = {
    {{"q", NULL, false, false, true, ""}, "", ""},
    {{"q", "paused", true, true, true, ""}, "queue q is paused", ""},
    {{"q", NULL, true, true, true, ""}, "queue q checks why a message was refused", ""},
    {{"q", NULL, false, true, true, ""}, "the breaker of queue q is open", ""},
    {{"q", NULL, false, false, false, ""}, "", "the source of queue q is away"},
    {{"q", "halted", false, false, false, "refused"},
     "queue q is halted",
     "the source of queue q is away: refused"},
};

static void the_first_reason_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct replay_queue queue = {.blocked = "old", .cut_off = "old"};
        replay_blocked(&cases[i].state, &queue);
        assert_string_equal(queue.blocked, cases[i].blocked);
        assert_string_equal(queue.cut_off, cases[i].cut_off);
    }
}

/* A name may be 200 bytes long; the text is cut, and ends. */
static void a_long_name_is_cut(void **state) {
    char name[256] = {0};
    struct replay_queue queue;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    replay_blocked(&(struct replay_queue_state){name, "paused", false, false, false, name}, &queue);
    assert_true(strlen(queue.blocked) < sizeof queue.blocked);
    assert_string_equal(queue.blocked + strlen(queue.blocked) - strlen(" is paused"), " is paused");
    assert_true(strlen(queue.cut_off) < sizeof queue.cut_off);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_reason_is_told),
        cmocka_unit_test(a_long_name_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
