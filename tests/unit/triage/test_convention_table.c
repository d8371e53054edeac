/* The table of conventions as a whole; the first argument is docs/conventions.md. */
#include "test.h"

#include <stdio.h>

#include "base/json/json_path.h"
#include "triage/adopt/formats/convention_row.h"
#include "triage/replay/scrub_headers.h"

static const char *document;

static const struct convention_family *const families[] = {
    &format_kafka,   &format_dotnet,   &format_generic, &format_cloud,
    &format_sidekiq, &format_protobuf, &format_nats,    &format_rabbitmq,
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

/* Headers that conventions read, and that were there before the message failed. */
static bool is_own(const char *header) {
    static const char *const own[] = {"NServiceBus.MessageId", "NServiceBus.TimeSent",
                                      "NServiceBus.EnclosedMessageTypes", "message-type"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(header, own[i]))
            return true;
    return false;
}

static void goes_or_stays(const struct convention *row, const char *header, bool stays) {
    char context[128];
    char memory[256];
    struct arena arena;
    const struct rule_header *left, one = {bytes_of(header), BYTES("x")};
    arena_init_fixed(&arena, memory, sizeof memory);
    snprintf(context, sizeof context, "{\"adopted\":{\"convention\":\"%s\"}}", row->name);
    struct envelope envelope = {.headers = &one, .header_count = 1, .context = bytes_of(context)};
    if (scrub_headers(&envelope, &arena, &left) != stays)
        fail_msg("%s: %s %s", row->name, header, stays ? "is stripped" : "stays");
}

static void goes_back_clean(const struct convention *row, const char *arg) {
    (void)arg;
    if (row->where != IN_HEADERS)
        return;
    for (size_t i = 0; i < CONVENTION_PREFIXES_MAX && row->prefixes[i]; i++)
        goes_or_stays(row, row->prefixes[i], false);
    for (size_t i = 0; i < CONVENTION_MEMBERS_MAX && row->members[i]; i++)
        goes_or_stays(row, row->members[i], false);
    for (size_t i = 0; i < row->field_count; i++)
        goes_or_stays(row, row->fields[i].at, is_own(row->fields[i].at));
}

static void no_header_of_a_failure_goes_back_with_its_message(void **state) {
    (void)state;
    each(goes_back_clean, NULL);
}

int main(int argc, char **argv) {
    document = argc > 1 ? argv[1] : "docs/conventions.md";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_convention_stands_in_the_document),
        cmocka_unit_test(every_row_is_sound),
        cmocka_unit_test(no_header_of_a_failure_goes_back_with_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
