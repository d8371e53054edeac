#include "test.h"

#include "cli/view/sentence.h"

static void check(const char *json, const char *pattern, const char *expected) {
    struct arena arena;
    struct json object;
    struct buf out;
    arena_init_heap(&arena, 256);
    buf_init_heap(&out, 1024);
    assert_int_equal(json_parse(bytes_of(json), &object, NULL), STATUS_OK);
    sentence_put(object, pattern, &arena, &out);
    assert_string_equal(buf_cstr(&out), expected);
    buf_free(&out);
    arena_free(&arena);
}

static void members_stand_in_their_places(void **state) {
    (void)state;
    static const char replay[] = "{\"id\":\"r-1\",\"sent\":3,\"of\":{\"all\":5},\"why\":null}";
    check(replay, "replay {id}: {sent} of {of.all} sent\n", "replay r-1: 3 of 5 sent\n");
    check(replay, "{id}{sent}", "r-13");
    check(replay, "nothing", "nothing");
    check(replay, "why: {why}, {nobody}.", "why: , .");
}

static void what_a_message_says_cannot_play_with_the_terminal(void **state) {
    (void)state;
    check("{\"queue\":\"a\\u001b[31mb\"}", "{queue} is paused", "a\\x1b[31mb is paused");
    check("{\"queue\":\"{id}\",\"id\":\"x\"}", "{queue}", "{id}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_stand_in_their_places),
        cmocka_unit_test(what_a_message_says_cannot_play_with_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
