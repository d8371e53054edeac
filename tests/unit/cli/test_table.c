#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/view/table.h"
#include "cli/view/safe_text.h"

enum { OUT_MAX = 1 << 16 };

static const struct table_column columns[] = {{"NAME", false}, {"N", true}, {"TEXT", false}};

struct fixture {
    struct table table;
    struct buf out;
};

static void start(struct fixture *f, size_t width) {
    table_init(&f->table, columns, 3, width, false);
    buf_init_heap(&f->out, OUT_MAX);
}

static void finish(struct fixture *f) {
    table_free(&f->table);
    buf_free(&f->out);
}

static void add_row(struct fixture *f, const char *name, const char *n, const char *text) {
    table_cell(&f->table, bytes_of(name));
    table_cell(&f->table, bytes_of(n));
    table_cell(&f->table, bytes_of(text));
}

static void columns_are_aligned(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    add_row(&f, "a", "1000", "x");
    add_row(&f, "longer", "7", "");
    table_print(&f.table, &f.out);
    assert_string_equal(buf_cstr(&f.out), "NAME       N  TEXT\n"
                                          "a       1000  x\n"
                                          "longer     7  -\n");
    finish(&f);
}

static void the_header_stands_once_and_columns_do_not_shrink(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    add_row(&f, "longer", "1", "x");
    table_print(&f.table, &f.out);
    add_row(&f, "a", "2", "y");
    table_print(&f.table, &f.out);
    assert_string_equal(buf_cstr(&f.out), "NAME    N  TEXT\n"
                                          "longer  1  x\n"
                                          "a       2  y\n");
    finish(&f);
}

static void a_line_ends_at_the_edge_of_the_terminal(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 28);
    add_row(&f, "ab", "1", "abcdefghijklmnopqrstuvwxyz");
    table_print(&f.table, &f.out);
    /* 28 columns: 4 + 2 + 1 + 2 before it leave 19. */
    assert_string_equal(buf_cstr(&f.out), "NAME  N  TEXT\n"
                                          "ab    1  abcdefghijklmnopqr…\n");
    finish(&f);
    start(&f, 6);
    add_row(&f, "abcdefgh", "1", "x");
    table_print(&f.table, &f.out);
    assert_string_equal(buf_cstr(&f.out), "NAME\n"
                                          "abcde…\n");
    finish(&f);
}

static void wide_characters_count_twice(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    add_row(&f, "注文です", "1", "x");
    add_row(&f, "é", "2", "y");
    table_print(&f.table, &f.out);
    assert_string_equal(buf_cstr(&f.out), "NAME      N  TEXT\n"
                                          "注文です  1  x\n"
                                          "é         2  y\n");
    finish(&f);
}

static void a_cell_is_one_line_whatever_it_holds(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    add_row(&f, "a\nb", "1", "\x1b[2J\xff\xc2\x9b");
    table_print(&f.table, &f.out);
    assert_string_equal(buf_cstr(&f.out), "NAME    N  TEXT\n"
                                          "a\\x0ab  1  \\x1b[2J\\xff\\xc2\\x9b\n");
    finish(&f);
}

static void marks_that_turn_the_writing_are_shown(void **state) {
    (void)state;
    struct buf out;
    buf_init_heap(&out, OUT_MAX);
    text_put(&out, BYTES("a\u202eb\u2066é"));
    assert_string_equal(buf_cstr(&out), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6é");
    buf_free(&out);
}

static void lines_are_indented_and_keep_their_tabs_as_spaces(void **state) {
    (void)state;
    struct buf out;
    buf_init_heap(&out, OUT_MAX);
    text_put_lines(&out, BYTES("a\n\tb\x07\n"), 2);
    assert_string_equal(buf_cstr(&out), "  a\n      b\\x07\n");
    buf_free(&out);
}

int main(void) {
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(the_header_stands_once_and_columns_do_not_shrink),
        cmocka_unit_test(a_line_ends_at_the_edge_of_the_terminal),
        cmocka_unit_test(wide_characters_count_twice),
        cmocka_unit_test(a_cell_is_one_line_whatever_it_holds),
        cmocka_unit_test(marks_that_turn_the_writing_are_shown),
        cmocka_unit_test(lines_are_indented_and_keep_their_tabs_as_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
