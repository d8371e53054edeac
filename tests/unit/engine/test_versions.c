/* Which versions of consumers are in use. */
#include "engine/queue/versions.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static struct versions versions;

static int start(void **state) {
    (void)state;
    versions = (struct versions){.known = {{.text = ""}}};
    return 0;
}

/* Those in use, with spaces behind them, in no order that is promised. */
static bool in_use(int64_t now_ms, const char *text) {
    const char *out[VERSIONS_MAX];
    size_t count = versions_in_use(&versions, (struct mono){now_ms}, out);
    for (size_t i = 0; i < count; i++)
        if (strcmp(out[i], text) == 0)
            return true;
    return false;
}

static size_t count_at(int64_t now_ms) {
    const char *out[VERSIONS_MAX];
    return versions_in_use(&versions, (struct mono){now_ms}, out);
}

static void note(const char *text, int64_t at_ms) {
    versions_note(&versions, bytes_of(text), (struct mono){at_ms});
}

static void what_was_seen_lately_is_in_use(void **state) {
    (void)state;
    assert_int_equal(count_at(0), 0);
    note("", 1000);
    assert_int_equal(count_at(1000), 0);
    note("1.3", 1000);
    note("1.4", 2000);
    assert_true(in_use(2000, "1.3") && in_use(2000, "1.4"));
    note("1.4", 50000);
    assert_true(!in_use(1000 + VERSIONS_RECENT_MS, "1.3"));
    assert_true(in_use(1000 + VERSIONS_RECENT_MS, "1.4"));
}

static void without_any_the_last_that_was_seen_is(void **state) {
    (void)state;
    note("1.4", 1000);
    note("1.3", 2000);
    assert_int_equal(count_at(VERSIONS_RECENT_MS * 10), 1);
    assert_true(in_use(VERSIONS_RECENT_MS * 10, "1.3"));
}

static void the_one_seen_longest_ago_makes_room(void **state) {
    (void)state;
    char text[16];
    for (int i = 0; i <= VERSIONS_MAX; i++) {
        snprintf(text, sizeof text, "1.%d", i);
        note(text, 1000 + i);
    }
    assert_int_equal(count_at(2000), VERSIONS_MAX);
    assert_true(!in_use(2000, "1.0") && in_use(2000, "1.1") && in_use(2000, text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_was_seen_lately_is_in_use, start),
        cmocka_unit_test_setup(without_any_the_last_that_was_seen_is, start),
        cmocka_unit_test_setup(the_one_seen_longest_ago_makes_room, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
