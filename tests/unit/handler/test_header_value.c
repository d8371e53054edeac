/* Values of a handler's headers that name the message's id or key. */
#include "test.h"

#include "handler/http/header_value.h"

static void ids_and_keys_are_filled_in(void **state) {
    (void)state;
    static const struct {
        const char *value, *with_key, *without_key; /* NULL: the header is left out */
        bool varies;
    } rows[] = {
        {"{id}", "o-1", "o-1", true},
        {"q-{id}/{key}.", "q-o-1/k.", NULL, true},
        {"{key}", "k", NULL, true},
        {"plain", "plain", "plain", false},
        {"{{id}}", "{id}", "{id}", false},
        {"{{uuid}}-{id}", "{uuid}-o-1", "{uuid}-o-1", true},
        {"{{id}", "{o-1", "{o-1", true},
        {"{\"a\":{\"b\":1}} ${HOME} {a} {}", "{\"a\":{\"b\":1}} ${HOME} {a} {}",
         "{\"a\":{\"b\":1}} ${HOME} {a} {}", false},
        {"", "", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call call = {.id = BYTES("o-1"), .key = BYTES("k")}, keyless = {.id = BYTES("o-1")};
        struct bytes value = bytes_of(rows[i].value), unknown;
        char memory[128];
        struct buf out;
        assert_true(header_value_is_known(value, &unknown));
        assert_int_equal(header_value_varies(value), rows[i].varies);
        buf_init_fixed(&out, memory, sizeof memory);
        assert_true(header_value_put(value, &call, &out));
        assert_bytes(buf_view(&out), rows[i].with_key);
        buf_init_fixed(&out, memory, sizeof memory);
        assert_int_equal(header_value_put(value, &keyless, &out), rows[i].without_key != NULL);
        if (rows[i].without_key)
            assert_bytes(buf_view(&out), rows[i].without_key);
    }
}

static void words_that_mean_nothing_are_found(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"{uuid}", "{uuid}"}, {"{id}-{queue}", "{queue}"}, {"x {ids}", "{ids}"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes unknown;
        assert_false(header_value_is_known(bytes_of(rows[i][0]), &unknown));
        assert_bytes(unknown, rows[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_keys_are_filled_in),
        cmocka_unit_test(words_that_mean_nothing_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
