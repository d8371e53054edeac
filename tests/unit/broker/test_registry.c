/* The kinds of brokers, as the rest of the program relies on them. */
#include "broker/registry.h"

#include <stdio.h>

#include "test.h"

static void each_kind_has_a_name_and_schemes_of_its_own(void **state) {
    (void)state;
    for (size_t i = 0; registry_kinds[i]; i++) {
        const struct broker_kind *kind = registry_kinds[i];
        assert_non_null(kind->library);
        assert_ptr_equal(broker_kind_find(registry_kinds, bytes_of(kind->name)), kind);
        for (size_t s = 0; s < 2 && kind->schemes[s]; s++) {
            char url[64];
            snprintf(url, sizeof url, "%s://host", kind->schemes[s]);
            assert_ptr_equal(registry_of_url(bytes_of(url)), kind);
        }
    }
    assert_null(broker_kind_find(registry_kinds, BYTES("none")));
    assert_null(registry_of_url(BYTES("none://host")));
    assert_null(registry_of_url(BYTES("builtin")));
}

static bool is_place(const struct broker_kind *kind, const char *member) {
    for (const struct broker_coordinate *at = kind->coordinates; at->member; at++)
        if (strcmp(at->member, member) == 0)
            return at->place;
    return false;
}

/* What a URL calls a place is what a message's source calls it. A sorted set cannot take messages
 * back, and so is none. */
static void each_kind_has_a_place_that_urls_name(void **state) {
    (void)state;
    for (size_t i = 0; registry_kinds[i]; i++) {
        const struct broker_kind *kind = registry_kinds[i];
        assert_true(kind->coordinates[0].place);
        assert_true(!kind->path_place != !kind->place_parameters[0]);
        assert_true(!kind->path_place || is_place(kind, kind->path_place));
        for (const char *const *name = kind->place_parameters; *name; name++)
            if (strcmp(*name, "zset") != 0 && !is_place(kind, *name))
                fail_msg("%s: %s is no place", kind->name, *name);
        assert_null(kind->place_parameters[BROKER_PLACES_MAX - 1]);
        assert_null(kind->coordinates[BROKER_COORDINATES_MAX - 1].member);
        assert_null(kind->changing_headers[BROKER_NAMES_MAX - 1]);
        assert_null(kind->kept_members[BROKER_NAMES_MAX - 1]);
    }
}

static void an_adapter_is_whole_or_not_built_in(void **state) {
    (void)state;
    struct registry_names names;
    size_t built_in = 0, left_out = 0, count = 0;
    registry_list(&names);
    for (; registry_kinds[count]; count++) {
        const struct broker_kind *kind = registry_kinds[count];
        bool is = kind->source_new != NULL;
        assert_int_equal(kind->source_check != NULL, is);
        assert_int_equal(kind->peek_check != NULL, is);
        assert_true(is || (!kind->peek_new && !kind->sink_new));
        assert_int_equal(kind->sink_check != NULL, kind->sink_new != NULL);
        assert_int_equal(kind->sink_connect != NULL, kind->sink_new != NULL);
    }
    while (names.sources[built_in])
        built_in++;
    while (names.left_out[left_out])
        left_out++;
    assert_int_equal(built_in + left_out, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_a_name_and_schemes_of_its_own),
        cmocka_unit_test(each_kind_has_a_place_that_urls_name),
        cmocka_unit_test(an_adapter_is_whole_or_not_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
