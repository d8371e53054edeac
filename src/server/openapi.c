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

static void put_parameter(struct json_out *json, struct bytes name, const char *in,
                          const char *type, const char *description) {
    json_open(json, '{');
    json_key(json, "name");
    json_put(json, name);
    put_pair(json, "in", in);
    json_key(json, "required");
    json_put_bool(json, strcmp(in, "path") == 0);
    if (description)
        put_pair(json, "description", description);
    json_key(json, "schema");
    json_open(json, '{');
    put_pair(json, "type", type);
    json_close(json, '}');
    json_close(json, '}');
}

static const struct schema_parameter *find_parameter(struct bytes name) {
    for (size_t i = 0; i < schema_parameter_count; i++) {
        if (bytes_is(name, schema_parameters[i].name))
            return &schema_parameters[i];
    }
    return NULL;
}

static void put_path_parameters(struct json_out *json, struct bytes path) {
    size_t open;
    while ((open = bytes_find(path, BYTES("{"))) < path.len) {
        size_t close = bytes_find(path, BYTES("}"));
        put_parameter(json, bytes_cut(path, open + 1, close), "path", "string", NULL);
        path = bytes_cut(path, close + 1, path.len);
    }
}

static void put_query_parameters(struct json_out *json, struct bytes names) {
    while (names.len > 0) {
        size_t end = bytes_find(names, BYTES(" "));
        const struct schema_parameter *parameter = find_parameter(bytes_cut(names, 0, end));
        assert(parameter);
        put_parameter(json, bytes_of(parameter->name), "query", parameter->type,
                      parameter->description);
        names = bytes_cut(names, end + 1, names.len);
    }
}

/* ---- operations ---- */

static void put_request_body(struct json_out *json, const struct route *route) {
    if (!route->takes && !route->takes_too)
        return;
    json_key(json, "requestBody");
    json_open(json, '{');
    json_key(json, "content");
    json_open(json, '{');
    if (route->takes)
        put_media(json, "application/json", route->takes);
    if (route->takes_too)
        put_media(json, "application/x-ndjson", route->takes_too);
    json_close(json, '}');
    json_close(json, '}');
}

static void put_response(struct json_out *json, const char *code, const char *description,
                         const char *type, const char *schema) {
    json_key(json, code);
    json_open(json, '{');
    put_pair(json, "description", description);
    json_key(json, "content");
    json_open(json, '{');
    put_media(json, type, schema);
    json_close(json, '}');
    json_close(json, '}');
}

static void put_responses(struct json_out *json, const struct route *route) {
    bool schema = !strchr(route->gives, '/');
    json_key(json, "responses");
    json_open(json, '{');
    put_response(json, "200", "Done.", schema ? "application/json" : route->gives,
                 schema ? route->gives : NULL);
    put_response(json, "default", "A problem (RFC 9457).", "application/problem+json", "Problem");
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
    put_path_parameters(json, bytes_of(route->path));
    put_query_parameters(json, bytes_of(route->query));
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

static void put_schemas(struct json_out *json) {
    json_key(json, "components");
    json_open(json, '{');
    json_key(json, "schemas");
    json_open(json, '{');
    for (size_t i = 0; i < schema_count; i++) {
        json_key(json, schemas[i].name);
        json_put_raw(json, bytes_of(schemas[i].json));
    }
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
