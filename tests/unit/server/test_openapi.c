/* The routes table, and the description of the API beside it. */
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/json/json.h"
#include "server/api/openapi.h"
#include "server/http/route.h"

static struct bytes text;
static struct json document;
static struct arena arena;

static struct json get(struct json object, const char *name) {
    struct json value;
    if (!json_get(object, name, &value))
        fail_msg("there is no \"%s\"", name);
    return value;
}

static bool implemented(const char *method, const char *path) {
    for (size_t i = 0; i < route_count; i++) {
        if (strcasecmp(routes[i].method, method) == 0 && strcmp(routes[i].path, path) == 0)
            return true;
    }
    return false;
}

/* How many names the path has in braces. */
static size_t names_in(const char *path) {
    size_t count = 0;
    for (const char *at = path; (at = strchr(at, '{')); at++)
        count++;
    return count;
}

static bool holds_name(const char *path, struct bytes name) {
    char braced[64];
    snprintf(braced, sizeof braced, "{%.*s}", BYTES_ARG(name));
    return strstr(path, braced) != NULL;
}

/* The parameters of an operation that stand in its path; how many there are. */
static size_t path_names(struct json operation, struct bytes names[ROUTE_PARAMS_MAX]) {
    size_t count = 0;
    for (struct json_walk one = json_walk(get(operation, "parameters")); json_step(&one);) {
        struct bytes in;
        assert_true(json_string(get(one.value, "in"), &arena, &in));
        if (!bytes_is(in, "path"))
            continue;
        assert_true(count < ROUTE_PARAMS_MAX);
        assert_true(json_string(get(one.value, "name"), &arena, &names[count++]));
    }
    return count;
}

static void every_route_is_described(void **state) {
    (void)state;
    struct json paths = get(document, "paths");
    size_t count = 0;
    for (size_t i = 0; i < route_count; i++) {
        char method[8] = "";
        for (size_t at = 0; routes[i].method[at]; at++)
            method[at] = (char)tolower(routes[i].method[at]);
        struct json operation = get(get(paths, routes[i].path), method);
        struct bytes summary;
        assert_true(json_string(get(operation, "summary"), &arena, &summary));
        assert_true(summary.len > 0);
        struct bytes names[ROUTE_PARAMS_MAX];
        assert_int_equal(path_names(operation, names), names_in(routes[i].path));
        for (size_t name = 0; name < names_in(routes[i].path); name++)
            assert_true(holds_name(routes[i].path, names[name]));
        count++;
    }
    assert_true(count > 15);
}

static void nothing_is_described_that_is_not_a_route(void **state) {
    (void)state;
    for (struct json_walk path = json_walk(get(document, "paths")); json_step(&path);) {
        char *name = arena_cstr(&arena, path.key);
        for (struct json_walk method = json_walk(path.value); json_step(&method);)
            assert_true(implemented(arena_cstr(&arena, method.key), name));
    }
}

static void every_reference_has_a_schema(void **state) {
    (void)state;
    struct json known = get(get(document, "components"), "schemas");
    struct bytes rest = text, sign = BYTES("#/components/schemas/");
    size_t found = 0, at;
    while ((at = bytes_find(rest, sign)) < rest.len) {
        rest = bytes_cut(rest, at + sign.len, rest.len);
        struct json schema;
        struct bytes name = bytes_cut(rest, 0, bytes_find(rest, BYTES("\"")));
        assert_true(json_get(known, arena_cstr(&arena, name), &schema));
        assert_int_equal(schema.type, JSON_OBJECT);
        found++;
    }
    assert_true(found > 10);
}

static void operation_ids_differ(void **state) {
    (void)state;
    struct bytes *ids = arena_alloc(&arena, route_count * sizeof *ids);
    size_t count = 0;
    for (struct json_walk path = json_walk(get(document, "paths")); json_step(&path);) {
        for (struct json_walk method = json_walk(path.value); json_step(&method); count++) {
            assert_true(count < route_count);
            assert_true(json_string(get(method.value, "operationId"), &arena, &ids[count]));
            for (size_t i = 0; i < count; i++)
                assert_false(bytes_eq(ids[i], ids[count]));
        }
    }
    assert_int_equal(count, route_count);
}

static void the_version_is_the_builds(void **state) {
    (void)state;
    struct bytes version;
    assert_true(json_string(get(get(document, "info"), "version"), &arena, &version));
    assert_bytes(version, IMPOUND_VERSION);
}

static void a_request_finds_its_route(void **state) {
    (void)state;
    static const struct {
        const char *method, *path;
        enum status status;
        const char *route, *param, *allow;
    } rows[] = {
        {"GET", "/v1/queues", STATUS_OK, "/v1/queues", NULL, ""},
        {"HEAD", "/v1/queues", STATUS_OK, "/v1/queues", NULL, ""},
        {"GET", "/", STATUS_OK, "/", NULL, ""},
        {"GET", "/v1/queues/a%2Fb", STATUS_OK, "/v1/queues/{queue}", "a/b", ""},
        {"GET", "/v1/messages/x", STATUS_OK, "/v1/messages/{id}", "x", ""},
        {"POST", "/v1/letters/discard", STATUS_OK, "/v1/letters/discard", NULL, ""},
        {"POST", "/v1/queues", STATUS_METHOD, NULL, NULL, "GET, HEAD, OPTIONS"},
        {"DELETE", "/v1/queues/q/messages", STATUS_METHOD, NULL, NULL, "POST, OPTIONS"},
        {"PUT", "/v1/letters/resolve", STATUS_METHOD, NULL, NULL, "POST, OPTIONS"},
        {"GET", "/v1/letters/resolve", STATUS_OK, "/v1/letters/{id}", "resolve", ""},
        {"GET", "/v1/messages/discard", STATUS_OK, "/v1/messages/{id}", "discard", ""},
        {"GET", "/v1/queues/", STATUS_NOT_FOUND, NULL, NULL, ""},
        {"GET", "/v1/queues/a/b/c/d/e/f/g/h/i/j", STATUS_NOT_FOUND, NULL, NULL, ""},
        {"GET", "/nowhere", STATUS_NOT_FOUND, NULL, NULL, ""},
        {"GET", "*", STATUS_NOT_FOUND, NULL, NULL, ""},
        {"GET", "/v1/queues/%zz", STATUS_INVALID, "/v1/queues/{queue}", NULL, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct route *route = NULL;
        struct bytes params[ROUTE_PARAMS_MAX] = {{0}};
        char allow[ROUTE_ALLOW_SIZE];
        assert_int_equal(route_find(bytes_of(rows[i].method), bytes_of(rows[i].path), &arena,
                                    &route, params, allow),
                         rows[i].status);
        if (rows[i].route)
            assert_string_equal(route->path, rows[i].route);
        if (rows[i].param)
            assert_bytes(params[0], rows[i].param);
        if (rows[i].status == STATUS_METHOD)
            assert_string_equal(allow, rows[i].allow);
    }
}

static int setup(void **state) {
    (void)state;
    struct err err;
    arena_init_heap(&arena, 4096);
    text = (struct bytes){(const char *)openapi_json, openapi_json_size};
    return json_parse(text, &document, &err) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(nothing_is_described_that_is_not_a_route),
        cmocka_unit_test(every_reference_has_a_schema),
        cmocka_unit_test(operation_ids_differ),
        cmocka_unit_test(the_version_is_the_builds),
        cmocka_unit_test(a_request_finds_its_route),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
