/* docs/config.md tells of every key, and its examples are configurations. */
#include "test.h"

#include <stdio.h>

#include "config/config_tables.h"

static void read_doc(struct buf *out) {
    char piece[4096];
    size_t got;
    FILE *file = fopen(DOCS "/config.md", "r");
    assert_non_null(file);
    buf_init_heap(out, 1 << 20);
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        buf_put(out, piece, got);
    fclose(file);
}

/* A row of a table: | `key` | meaning | … */
static void assert_told(const char *doc, const char *mapping, const struct config_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const struct config_field *field = &table->fields[i];
        char row[128], refusal[128];
        snprintf(row, sizeof row, "| `%s` | ", field->name);
        snprintf(refusal, sizeof refusal, "| `%s` | not in this version |", field->name);
        if (!strstr(doc, row))
            fail_msg("docs/config.md has no row for %s of %s", field->name, mapping);
        if (!field->read && !strstr(doc, refusal))
            fail_msg("docs/config.md does not say that %s is not in this version", field->name);
    }
}

static void every_key_is_told_of(void **state) {
    (void)state;
    struct buf doc;
    read_doc(&doc);
#define ASSERT_TOLD(mapping, table) assert_told(buf_cstr(&doc), mapping, &(table));
    CONFIG_TABLES(ASSERT_TOLD)
    buf_free(&doc);
}

static void every_example_is_a_configuration(void **state) {
    (void)state;
    static const struct bytes begin = BYTES("```yaml\n"), end = BYTES("\n```");
    struct buf doc, mistakes;
    size_t examples = 0;
    setenv("PRICES_KEY", "k", 1);
    setenv("HOOK_SECRET", "s", 1);
    setenv("REDIS_PASSWORD", "p", 1);
    read_doc(&doc);
    buf_init_heap(&mistakes, 1 << 16);
    struct bytes rest = buf_view(&doc);
    for (;;) {
        rest = bytes_cut(rest, bytes_find(rest, begin) + begin.len, rest.len);
        if (rest.len == 0)
            break;
        struct config *config;
        struct bytes example = bytes_cut(rest, 0, bytes_find(rest, end) + 1);
#ifndef IMPOUND_REDIS
        if (bytes_find(example, BYTES("redis://")) < example.len)
            continue;
#endif
        if (config_parse(example, "example", &config, &mistakes) != STATUS_OK)
            fail_msg("%s\nin:\n%.*s", buf_cstr(&mistakes), BYTES_ARG(example));
        config_free(config);
        examples++;
    }
    assert_true(examples >= 8);
    buf_free(&doc);
    buf_free(&mistakes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_told_of),
        cmocka_unit_test(every_example_is_a_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
