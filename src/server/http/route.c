#include "server/http/route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/percent.h"

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
        assert(found < ROUTE_PARAMS_MAX || !is_param(wanted[i]));
        if (is_param(wanted[i]) && !percent_decode(segments[i], arena, &params[found++]))
            return false;
    }
    return true;
}

static void allow_add(char allow[ROUTE_ALLOW_SIZE], const char *method) {
    size_t used = strlen(allow);
    int added = snprintf(allow + used, ROUTE_ALLOW_SIZE - used, "%s%s", used ? ", " : "", method);
    assert(added > 0 && used + (size_t)added < ROUTE_ALLOW_SIZE);
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

/* /v1/letters/resolve is not /v1/letters/{id}: of all matching paths, the one with the fewest
 * parameters determines the allowed methods. SIZE_MAX: none matches. */
static size_t fewest_params(const struct bytes *segments, size_t count) {
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < route_count; i++)
        if (matches(&routes[i], segments, count) && params_of(&routes[i]) < fewest)
            fewest = params_of(&routes[i]);
    return fewest;
}

/* A message may have the id "discard", which GET /v1/messages/discard shows: the method takes
 * precedence over the number of parameters. */
static const struct route *best_for(struct bytes method, const struct bytes *segments,
                                    size_t count) {
    const struct route *best = NULL;
    for (size_t i = 0; i < route_count; i++) {
        if (bytes_is(method, routes[i].method) && matches(&routes[i], segments, count) &&
            (!best || params_of(&routes[i]) < params_of(best)))
            best = &routes[i];
    }
    return best;
}

static void list_allowed(const struct bytes *segments, size_t count, char allow[ROUTE_ALLOW_SIZE]) {
    size_t params_count = fewest_params(segments, count);
    for (size_t i = 0; i < route_count; i++)
        if (params_of(&routes[i]) == params_count && matches(&routes[i], segments, count))
            allow_add(allow, routes[i].method);
}

enum status route_find(struct bytes method, struct bytes path, struct arena *arena,
                       const struct route **out, struct bytes params[ROUTE_PARAMS_MAX],
                       char allow[ROUTE_ALLOW_SIZE]) {
    struct bytes segments[ROUTE_SEGMENTS_MAX + 1];
    allow[0] = '\0';
    if (path.len == 0 || path.ptr[0] != '/')
        return STATUS_NOT_FOUND;
    size_t count = split(path, segments);
    *out = best_for(bytes_is(method, "HEAD") ? BYTES("GET") : method, segments, count);
    if (*out)
        return decode_params(*out, segments, arena, params) ? STATUS_OK : STATUS_INVALID;
    list_allowed(segments, count, allow);
    if (!allow[0])
        return STATUS_NOT_FOUND;
    allow_add(allow, "OPTIONS");
    return STATUS_METHOD;
}
