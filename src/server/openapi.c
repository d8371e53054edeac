#include "server/openapi.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "server/route.h"
#include "server/schema.h"

static void put_pair(struct json_out *json, const char *key, const char *value) {
    json_key(json, key);
    json_put_str(json, value);
}

/* {"$ref":"#/components/schemas/NAME"} */
static void put_ref(struct json_out *json, const char *name) {
    char memory[128];
    struct buf ref;
    buf_init_fixed(&ref, memory, sizeof memory);
    buf_printf(&ref, "#/components/schemas/%s", name);
    json_open(json, '{');
    json_key(json, "$ref");
    json_put(json, buf_view(&ref));
    json_close(json, '}');
}

/* "MEDIA TYPE": {"schema": …}; without a schema, any text. */
static void put_media(struct json_out *json, const char *type, const char *schema) {
    json_key(json, type);
    json_open(json, '{');
    if (schema) {
        json_key(json, "schema");
        put_ref(json, schema);
    }
    json_close(json, '}');
}

/* ---- parameters ---- */

static const struct schema_parameter *find_parameter(struct bytes name, const char *operation) {
    for (size_t i = 0; i < schema_parameter_count; i++) {
        const struct schema_parameter *row = &schema_parameters[i];
        if (bytes_is(name, row->name) &&
            (!row->operation || strcmp(row->operation, operation) == 0))
            return row;
    }
    return NULL;
}

static void put_parameter(struct json_out *json, struct bytes name, const char *in,
                          const char *operation) {
    bool required = strcmp(in, "path") == 0 || bytes_starts(name, BYTES("!"));
    name = bytes_cut(name, bytes_starts(name, BYTES("!")), name.len);
    const struct schema_parameter *parameter = find_parameter(name, operation);
    assert(parameter);
    json_open(json, '{');
    put_pair(json, "name", parameter->name);
    put_pair(json, "in", in);
    json_key(json, "required");
    json_put_bool(json, required);
    put_pair(json, "description", parameter->description);
    json_key(json, "schema");
    json_put_raw(json, bytes_of(parameter->json));
    json_close(json, '}');
}

static void put_path_parameters(struct json_out *json, const struct route *route) {
    struct bytes path = bytes_of(route->path);
    size_t open;
    while ((open = bytes_find(path, BYTES("{"))) < path.len) {
        size_t close = bytes_find(path, BYTES("}"));
        put_parameter(json, bytes_cut(path, open + 1, close), "path", route->operation);
        path = bytes_cut(path, close + 1, path.len);
    }
}

static void put_query_parameters(struct json_out *json, const struct route *route) {
    struct bytes names = bytes_of(route->query);
    while (names.len > 0) {
        size_t end = bytes_find(names, BYTES(" "));
        put_parameter(json, bytes_cut(names, 0, end), "query", route->operation);
        names = bytes_cut(names, end + 1, names.len);
    }
}

/* ---- operations ---- */

static void put_request_body(struct json_out *json, const struct route *route) {
    if (!route->takes && !route->takes_too)
        return;
    const char *first = route->takes ? route->takes : route->takes_too;
    bool optional = first[0] == '?';
    json_key(json, "requestBody");
    json_open(json, '{');
    json_key(json, "required");
    json_put_bool(json, !optional);
    json_key(json, "content");
    json_open(json, '{');
    if (route->takes)
        put_media(json, "application/json", route->takes + optional);
    if (route->takes_too)
        put_media(json, "application/x-ndjson", route->takes_too + (route->takes_too[0] == '?'));
    json_close(json, '}');
    json_close(json, '}');
}

/* A form is a schema's name, for JSON, or a media type. */
static void put_form(struct json_out *json, struct bytes form) {
    char memory[64];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_bytes(&text, form);
    bool schema = bytes_find(form, BYTES("/")) == form.len;
    put_media(json, schema ? "application/json" : buf_cstr(&text), schema ? buf_cstr(&text) : NULL);
}

static void put_answer(struct json_out *json, struct bytes forms) {
    json_key(json, "200");
    json_open(json, '{');
    put_pair(json, "description", "Done.");
    json_key(json, "content");
    json_open(json, '{');
    while (forms.len > 0) {
        size_t end = bytes_find(forms, BYTES(" "));
        put_form(json, bytes_cut(forms, 0, end));
        forms = bytes_cut(forms, end + 1, forms.len);
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void put_responses(struct json_out *json, const struct route *route) {
    json_key(json, "responses");
    json_open(json, '{');
    put_answer(json, bytes_of(route->gives));
    json_key(json, "default");
    json_open(json, '{');
    put_pair(json, "description", "A problem (RFC 9457).");
    json_key(json, "content");
    json_open(json, '{');
    put_media(json, "application/problem+json", "Problem");
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, '}');
}

static void put_operation(struct json_out *json, const struct route *route) {
    const char *const methods[][2] = {{"GET", "get"}, {"POST", "post"}, {"PATCH", "patch"}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(route->method, methods[i][0]) == 0)
            json_key(json, methods[i][1]);
    }
    json_open(json, '{');
    put_pair(json, "operationId", route->operation);
    put_pair(json, "summary", route->summary);
    json_key(json, "parameters");
    json_open(json, '[');
    put_path_parameters(json, route);
    put_query_parameters(json, route);
    json_close(json, ']');
    put_request_body(json, route);
    put_responses(json, route);
    json_close(json, '}');
}

static bool path_seen_before(size_t place) {
    for (size_t i = 0; i < place; i++) {
        if (strcmp(routes[i].path, routes[place].path) == 0)
            return true;
    }
    return false;
}

static void put_paths(struct json_out *json) {
    json_key(json, "paths");
    json_open(json, '{');
    for (size_t i = 0; i < route_count; i++) {
        if (path_seen_before(i))
            continue;
        json_key(json, routes[i].path);
        json_open(json, '{');
        for (size_t j = i; j < route_count; j++) {
            if (strcmp(routes[j].path, routes[i].path) == 0)
                put_operation(json, &routes[j]);
        }
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void put_table(struct json_out *json, const struct schema *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        json_key(json, table[i].name);
        json_put_raw(json, bytes_of(table[i].json));
    }
}

static void put_schemas(struct json_out *json) {
    json_key(json, "components");
    json_open(json, '{');
    json_key(json, "schemas");
    json_open(json, '{');
    put_table(json, schema_requests, schema_request_count);
    put_table(json, schemas, schema_count);
    json_close(json, '}');
    json_close(json, '}');
}

void openapi_write(struct bytes version, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    put_pair(&json, "openapi", "3.1.0");
    json_key(&json, "info");
    json_open(&json, '{');
    put_pair(&json, "title", "impound");
    put_pair(&json, "summary", "A retry and dead-letter engine for any queue.");
    json_key(&json, "version");
    json_put(&json, version);
    json_close(&json, '}');
    put_paths(&json);
    put_schemas(&json);
    json_close(&json, '}');
}
