#include "test.h"

#include "base/json/json_path.h"

static void paths_lead_to_the_exact_text(void **state) {
    (void)state;
    static const char body[] = "{\"id\": 12345678901234567890, \"a\":{\"b\":[1.0,{\"c\":\"x\"}]},"
                               "\"x y\":true,\"quo\\\"te\":null,\"twice\":1,\"twice\":2}";
    static const struct {
        const char *path, *found; /* NULL: nothing */
    } cases[] = {
        {".id", "12345678901234567890"},
        {".a.b[0]", "1.0"},
        {".a.b.[1].c", "\"x\""},
        {".\"x y\"", "true"},
        {".\"quo\\\"te\"", "null"},
        {".\"\\u0069d\"", "12345678901234567890"},
        {".twice", "2"},
        {".", body},
        {".none", NULL},
        {".id.deeper", NULL},
        {".a.b[2]", NULL},
        {".a[0]", NULL},
    };
    struct json value, found;
    assert_int_equal(json_parse(BYTES(body), &value, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(json_path_check(bytes_of(cases[i].path), NULL), STATUS_OK);
        assert_int_equal(json_path_get(value, bytes_of(cases[i].path), &found),
                         cases[i].found != NULL);
        if (cases[i].found)
            assert_bytes(found.text, cases[i].found);
    }
}

static void what_is_no_path_is_refused_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *path, *place;
    } cases[] = {
        {"", "1 to"},
        {"order_id", "character 1 "},
        {".a..b", "character 3 "},
        {".a b", "character 3 "},
        {".1a", "character 1 "},
        {".a[x]", "character 3 "},
        {".a[1", "character 3 "},
        {".\"open", "character 1 "},
        {".a[-1]", "character 3 "},
        {".a | .b", "character 3 "},
        {".a[]", "character 3 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {STATUS_OK, ""};
        assert_int_equal(json_path_check(bytes_of(cases[i].path), &err), STATUS_INVALID);
        if (!strstr(err.text, cases[i].place))
            fail_msg("%s: %s", cases[i].path, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_the_exact_text),
        cmocka_unit_test(what_is_no_path_is_refused_with_its_place),
    };
    return cmocka_run_group_tests_name("json path", tests, NULL, NULL);
}
