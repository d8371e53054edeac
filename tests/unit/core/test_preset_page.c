/* docs/presets.md lists every row of the presets http, exec and ai-api, and no other: the tables of
 * that page are what is written here. A failure prints the table that belongs there. */
#include "test.h"

#include <stdio.h>

#include "core/presets/preset.h"
#include "core/words.h"

enum { TABLE_MAX = 1 << 16 };

static void put_ranges(struct buf *out, const char *noun, const struct rule_range *ranges,
                       size_t count) {
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, i ? ", " : "%s ", noun);
        buf_printf(out, ranges[i].from == ranges[i].to ? "%d" : "%d to %d", ranges[i].from,
                   ranges[i].to);
    }
}

static void put_and(struct buf *out, size_t from) {
    if (out->len > from)
        buf_str(out, ", ");
}

static void put_when(struct buf *out, const struct rule_when *when) {
    size_t from = out->len;
    put_ranges(out, "status", when->statuses, when->status_count);
    put_ranges(out, "exit code", when->exit_codes, when->exit_code_count);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (when->kinds & 1u << kind) {
            put_and(out, from);
            buf_printf(out, "kind `%s`", kind_text((enum kind)kind));
        }
    if (when->error_type.len > 0) {
        put_and(out, from);
        buf_printf(out, "type `%.*s`", BYTES_ARG(when->error_type));
    }
    if (when->message_starts.len > 0) {
        put_and(out, from);
        buf_printf(out, "message `%.*s`", BYTES_ARG(when->message_starts));
    }
    if (when->message_has.len > 0) {
        put_and(out, from);
        buf_printf(out, "message `*%.*s*`", BYTES_ARG(when->message_has));
    }
    if (when->says_when) {
        put_and(out, from);
        buf_str(out, "it says when to come back");
    }
    assert_true(out->len > from);
}

static void put_table(struct buf *out, enum preset preset) {
    size_t count;
    const struct rule *rules = preset_rules(preset, &count);
    buf_str(out,
            "| rule | matches | verdict | category | reason |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "| `%.*s` | ", BYTES_ARG(rules[i].name));
        put_when(out, &rules[i].when);
        buf_printf(out, " | %s | `%.*s` | `%.*s` |\n", verdict_text(rules[i].verdict),
                   BYTES_ARG(rules[i].category), BYTES_ARG(rules[i].reason));
    }
    assert_false(out->overflow);
}

/* The table behind the heading "## http", up to the next blank line. */
static struct bytes table_of(struct bytes page, enum preset preset) {
    char heading[64];
    snprintf(heading, sizeof heading, "\n## %s\n", preset_text(preset));
    struct bytes rest = bytes_cut(page, bytes_find(page, bytes_of(heading)), page.len);
    rest = bytes_cut(rest, bytes_find(rest, BYTES("| rule |")), rest.len);
    return bytes_cut(rest, 0, bytes_find(rest, BYTES("|\n\n")) + 2);
}

static void the_page_has_every_row_of_the_table_and_no_other(void **state) {
    (void)state;
    static const enum preset listed[] = {PRESET_HTTP, PRESET_EXEC, PRESET_AI_API};
    static char memory[1 << 20];
    FILE *file = fopen(PRESETS_PAGE, "r");
    assert_non_null(file);
    struct bytes page = {memory, fread(memory, 1, sizeof memory, file)};
    fclose(file);
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        struct buf table;
        buf_init_heap(&table, TABLE_MAX);
        put_table(&table, listed[i]);
        if (!bytes_eq(table_of(page, listed[i]), buf_view(&table))) {
            printf("docs/presets.md, %s, should have:\n%s\n", preset_text(listed[i]),
                   buf_cstr(&table));
            wrong++;
        }
        buf_free(&table);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_every_row_of_the_table_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
