#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/options.h"

static const struct options_row rows[] = {
    {"key", "KEY", "a key", 'k'},
    {"all", NULL, "all of them", 0},
    {0},
};

#define PARSE(options, err, least, most, ...)                                                      \
    options_parse(rows, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)),                   \
                  (char *[]){__VA_ARGS__}, least, most, options, err)

static char verb[] = "verb", a[] = "a", b[] = "b", dashes[] = "--", dash[] = "-";

static void options_may_stand_between_the_arguments(void **state) {
    (void)state;
    struct options options;
    struct err err;
    assert_int_equal(
        PARSE(&options, &err, 0, 2, verb, a, (char[]){"--key=1"}, b, (char[]){"--all"}), STATUS_OK);
    assert_int_equal(options.arg_count, 2);
    assert_string_equal(options.args[1], "b");
    assert_string_equal(options_get(&options, "key"), "1");
    assert_true(options_has(&options, "all"));
    options_free(&options);
}

static void a_value_may_look_like_an_option_and_the_last_one_counts(void **state) {
    (void)state;
    struct options options;
    struct err err;
    assert_int_equal(PARSE(&options, &err, 0, 0, verb, (char[]){"--key"}, (char[]){"--all"},
                           (char[]){"-k"}, (char[]){"=x"}),
                     STATUS_OK);
    assert_int_equal(options.given_count, 2);
    assert_string_equal(options.given[0].value, "--all");
    assert_string_equal(options_get(&options, "key"), "=x");
    assert_false(options_has(&options, "all"));
    options_free(&options);
}

static void two_dashes_end_the_options_and_one_is_an_argument(void **state) {
    (void)state;
    struct options options;
    struct err err;
    assert_int_equal(PARSE(&options, &err, 3, 3, verb, dash, dashes, (char[]){"--all"}, dashes),
                     STATUS_OK);
    assert_string_equal(options.args[0], "-");
    assert_string_equal(options.args[1], "--all");
    assert_string_equal(options.args[2], "--");
    assert_int_equal(options.given_count, 0);
    options_free(&options);
}

struct mistake {
    char *argv[4];
    int argc;
    const char *says;
};

static void each_mistake_is_said(void **state) {
    (void)state;
    static char kee[] = "--kee=3", zebra[] = "--zebra", key[] = "--key", all[] = "--all=yes",
                x[] = "-x", jsn[] = "--jsn";
    const struct mistake mistakes[] = {
        {{verb, kee}, 2, "unknown option --kee=3; did you mean --key?"},
        {{verb, jsn}, 2, "did you mean --json?"},
        {{verb, zebra}, 2, "unknown option --zebra"},
        {{verb, x}, 2, "unknown option -x"},
        {{verb, a, key}, 3, "--key needs a value: --key KEY"},
        {{verb, a, all}, 3, "--all takes no value"},
        {{verb}, 1, "an argument is missing"},
        {{verb, a, b}, 3, "\"b\" is one argument too many"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct mistake mistake = mistakes[i];
        struct options options;
        struct err err;
        assert_int_equal(options_parse(rows, mistake.argc, mistake.argv, 1, 1, &options, &err),
                         STATUS_USAGE);
        assert_non_null(strstr(err.text, mistake.says));
        options_free(&options);
    }
}

static void global_options_are_taken_out_wherever_they_stand(void **state) {
    (void)state;
    struct options globals;
    struct err err;
    char *argv[] = {verb,
                    (char[]){"--json"},
                    (char[]){"--key"},
                    (char[]){"--json"},
                    a,
                    (char[]){"--url"},
                    (char[]){"http://h"},
                    dashes,
                    (char[]){"-h"},
                    NULL};
    int argc = options_take_global(rows, 9, argv, &globals, &err);
    static const char *const left[] = {"verb", "--key", "--json", "a", "--", "-h"};
    assert_int_equal(argc, 6);
    for (int i = 0; i < argc; i++)
        assert_string_equal(argv[i], left[i]);
    assert_null(argv[argc]);
    assert_true(options_has(&globals, "json"));
    assert_false(options_has(&globals, "help"));
    assert_string_equal(options_get(&globals, "url"), "http://h");
    options_free(&globals);
}

static void a_global_option_without_its_value_is_a_mistake(void **state) {
    (void)state;
    struct options globals;
    struct err err;
    char *argv[] = {verb, (char[]){"--url"}, NULL};
    assert_int_equal(options_take_global(rows, 2, argv, &globals, &err), -1);
    assert_int_equal(err.status, STATUS_USAGE);
    options_free(&globals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_may_stand_between_the_arguments),
        cmocka_unit_test(a_value_may_look_like_an_option_and_the_last_one_counts),
        cmocka_unit_test(two_dashes_end_the_options_and_one_is_an_argument),
        cmocka_unit_test(each_mistake_is_said),
        cmocka_unit_test(global_options_are_taken_out_wherever_they_stand),
        cmocka_unit_test(a_global_option_without_its_value_is_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
