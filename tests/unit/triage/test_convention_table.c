/* The table of conventions as a whole; the first argument is docs/conventions.md. */
#include "test.h"

#include <stdio.h>

#include "base/json_path.h"
#include "triage/convention_row.h"

static const char *document;

static const struct convention_family *const families[] = {
    &convention_kafka,   &convention_dotnet,   &convention_seeds, &convention_cloud,
    &convention_sidekiq, &convention_protobuf, &convention_nats,  &convention_rabbit,
};

static void each(void (*visit)(const struct convention *row, const char *arg), const char *arg) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (size_t j = 0; j < families[i]->count; j++)
            visit(&families[i]->rows[j], arg);
}

static void is_named(const struct convention *row, const char *text) {
    char line[64];
    snprintf(line, sizeof line, "| `%s` |", row->name);
    if (!strstr(text, line))
        fail_msg("docs/conventions.md has no row %s", row->name);
}

static void every_convention_stands_in_the_document(void **state) {
    (void)state;
    static char text[64 * 1024];
    FILE *file = fopen(document, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(len > 0 && len < sizeof text - 1);
    each(is_named, text);
}

static void is_sound(const struct convention *row, const char *arg) {
    (void)arg;
    struct err err;
    assert_true(row->prefixes[0] || row->members[0] || row->fits);
    for (size_t i = 0; i < row->field_count; i++) {
        const struct convention_field *field = &row->fields[i];
        assert_int_equal(field->beside != NULL, field->fact == FACT_BESIDE);
        if (row->where != IN_HEADERS)
            assert_int_equal(json_path_check(bytes_of(field->at), &err), STATUS_OK);
    }
    for (size_t i = 0; row->where != IN_HEADERS && i < CONVENTION_MEMBERS_MAX && row->members[i];
         i++)
        assert_int_equal(json_path_check(bytes_of(row->members[i]), &err), STATUS_OK);
}

static void every_row_is_sound(void **state) {
    (void)state;
    each(is_sound, NULL);
}

int main(int argc, char **argv) {
    document = argc > 1 ? argv[1] : "docs/conventions.md";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_convention_stands_in_the_document),
        cmocka_unit_test(every_row_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
