/* Which form of a file a client gets, and whether it gets it at all. */
#include "test.h"

#include "server/dashboard/asset.h"

static const struct asset file = {.name = "app.js", .etag = "\"abc\""};

static void gzip_is_for_those_who_take_it(void **state) {
    (void)state;
    static const struct {
        const char *accept;
        bool takes;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"GZip", true},
        {"deflate, br , gzip", true},
        {"gzip;q=0.5", true},
        {"gzip; q=0", false},
        {"gzip;q=0.000", false},
        {"*", true},
        {"*;q=0", false},
        {"*, gzip;q=0", false},
        {"gzip;q=1, *;q=0", true},
        {"xgzip, gzipx", false},
        {"identity", false},
        {",,;,=", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (asset_wish(&file, bytes_of(rows[i].accept), BYTES_NONE).takes_gzip != rows[i].takes)
            fail_msg("row %zu: %s", i, rows[i].accept);
}

static void what_a_client_has_is_not_sent_again(void **state) {
    (void)state;
    static const struct {
        const char *tags;
        bool has;
    } rows[] = {
        {NULL, false}, {"\"abc\"", true}, {"W/\"abc\"", true}, {"\"x\", \"abc\"", true},
        {"*", true},   {"abc", false},    {"\"abcd\"", false}, {"\"ab", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct asset_wish wish = asset_wish(&file, BYTES_NONE, bytes_of(rows[i].tags));
        if (wish.has_it != rows[i].has)
            fail_msg("row %zu: %s", i, rows[i].tags);
        assert_int_equal(asset_status(wish), rows[i].has ? 304 : 200);
    }
}

static void the_page_is_there_and_its_policy_is_strict(void **state) {
    (void)state;
    const struct asset *page = asset_find(BYTES("index.html"));
    assert_non_null(page);
    assert_false(page->hashed);
    assert_true(page->plain_size > 0 && page->gzip_size > 0);
    assert_memory_equal(page->gzip, "\x1f\x8b", 2);
    assert_null(asset_find(BYTES("../index.html")));
    assert_null(strstr(asset_policy, "unsafe"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_is_for_those_who_take_it),
        cmocka_unit_test(what_a_client_has_is_not_sent_again),
        cmocka_unit_test(the_page_is_there_and_its_policy_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
