#include "server/route.h"

#include <stdio.h>
#include <string.h>

#include "server/url.h"

static size_t split(struct bytes path, struct bytes segments[ROUTE_SEGMENTS_MAX + 1]) {
    size_t count = 0;
    struct bytes rest = bytes_cut(path, 1, path.len);
    while (count <= ROUTE_SEGMENTS_MAX) {
        size_t end = bytes_find(rest, BYTES("/"));
        segments[count++] = bytes_cut(rest, 0, end);
        if (end == rest.len)
            break;
        rest = bytes_cut(rest, end + 1, rest.len);
    }
    return count;
}

static bool is_param(struct bytes segment) {
    return segment.len > 0 && segment.ptr[0] == '{';
}

static bool matches(const struct route *route, const struct bytes *segments, size_t count) {
    struct bytes wanted[ROUTE_SEGMENTS_MAX + 1];
    if (split(bytes_of(route->path), wanted) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool same = is_param(wanted[i]) ? segments[i].len > 0 : bytes_eq(wanted[i], segments[i]);
        if (!same)
            return false;
    }
    return true;
}

static bool decode_params(const struct route *route, const struct bytes *segments,
                          struct arena *arena, struct bytes params[ROUTE_PARAMS_MAX]) {
    struct bytes wanted[ROUTE_SEGMENTS_MAX + 1];
    size_t count = split(bytes_of(route->path), wanted), found = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_param(wanted[i]) && !url_decode(segments[i], arena, &params[found++]))
            return false;
    }
    return true;
}

static void allow_add(char allow[ROUTE_ALLOW_SIZE], const char *method) {
    size_t used = strlen(allow);
    snprintf(allow + used, ROUTE_ALLOW_SIZE - used, "%s%s", used ? ", " : "", method);
    if (strcmp(method, "GET") == 0)
        allow_add(allow, "HEAD");
}

static size_t params_of(const struct route *route) {
    struct bytes segments[ROUTE_SEGMENTS_MAX + 1];
    size_t count = split(bytes_of(route->path), segments), params = 0;
    for (size_t i = 0; i < count; i++)
        params += is_param(segments[i]);
    return params;
}

/* /v1/letters/resolve is not /v1/letters/{id}: of paths that match, the one with the fewest
 * parameters counts, whatever the method. SIZE_MAX: none matches. */
static size_t fewest_params(const struct bytes *segments, size_t count) {
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < route_count; i++)
        if (matches(&routes[i], segments, count) && params_of(&routes[i]) < fewest)
            fewest = params_of(&routes[i]);
    return fewest;
}

enum status route_find(struct bytes method, struct bytes path, struct arena *arena,
                       const struct route **out, struct bytes params[ROUTE_PARAMS_MAX],
                       char allow[ROUTE_ALLOW_SIZE]) {
    struct bytes segments[ROUTE_SEGMENTS_MAX + 1];
    allow[0] = '\0';
    if (path.len == 0 || path.ptr[0] != '/')
        return STATUS_NOT_FOUND;
    size_t count = split(path, segments), params_count = fewest_params(segments, count);
    struct bytes wanted = bytes_is(method, "HEAD") ? BYTES("GET") : method;
    for (size_t i = 0; i < route_count; i++) {
        if (!matches(&routes[i], segments, count) || params_of(&routes[i]) != params_count)
            continue;
        if (bytes_is(wanted, routes[i].method)) {
            *out = &routes[i];
            return decode_params(&routes[i], segments, arena, params) ? STATUS_OK : STATUS_INVALID;
        }
        allow_add(allow, routes[i].method);
    }
    if (!allow[0])
        return STATUS_NOT_FOUND;
    allow_add(allow, "OPTIONS");
    return STATUS_METHOD;
}
