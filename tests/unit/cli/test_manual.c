/* The man page and the table of verbs say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buf.h"
#include "cli/verbs.h"

enum { MANUAL_MAX = 1 << 20 };

static struct buf manual;

static int read_manual(void **state) {
    (void)state;
    FILE *file = fopen(MANUAL, "re");
    assert_non_null(file);
    buf_init_heap(&manual, MANUAL_MAX);
    char part[4096];
    for (size_t len; (len = fread(part, 1, sizeof part, file)) > 0;)
        buf_put(&manual, part, len);
    fclose(file);
    return 0;
}

static int free_manual(void **state) {
    (void)state;
    buf_free(&manual);
    return 0;
}

/* The word, with nothing behind it that would make it another. */
static bool is_mentioned(const char *before, const char *word) {
    static const char *const ends[] = {" ", "\n"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s%s%s", before, word, ends[i]);
        if (bytes_find(buf_view(&manual), bytes_of(text)) < manual.len)
            return true;
    }
    print_error("the man page has no %s%s\n", before, word);
    return false;
}

static bool mentions_options(const struct options_row *rows) {
    bool all = true;
    for (const struct options_row *row = rows; row && row->name; row++)
        all =
            (row->letter ? is_mentioned(", -", row->name) : is_mentioned("Fl -", row->name)) && all;
    return all;
}

static void every_verb_is_in_the_man_page(void **state) {
    (void)state;
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = verbs_at(NULL, i)); i++)
        assert_true(is_mentioned(".It Ic ", verb->name));
    static const char *const of_app[] = {"serve", "check", "doctor", "what-if"};
    for (size_t i = 0; i < sizeof of_app / sizeof *of_app; i++)
        assert_true(is_mentioned(".It Ic ", of_app[i]));
}

static void every_option_is_in_the_man_page(void **state) {
    (void)state;
    const struct cli_verb *verb;
    assert_true(mentions_options(options_global));
    for (size_t i = 0; (verb = verbs_at(NULL, i)); i++)
        assert_true(mentions_options(verb->options));
}

static void a_word_that_is_not_there_is_missed(void **state) {
    (void)state;
    assert_false(is_mentioned("Fl -", "no-such-option"));
    assert_false(is_mentioned(".It Ic ", "pus"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_in_the_man_page),
        cmocka_unit_test(every_option_is_in_the_man_page),
        cmocka_unit_test(a_word_that_is_not_there_is_missed),
    };
    return cmocka_run_group_tests(tests, read_manual, free_manual);
}
