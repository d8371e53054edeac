#include "broker/redis_url.h"

#include "base/ascii.h"
#include "base/instant.h"

#define SCHEME BYTES("redis://")

/* Cuts what stands before `mark` off the front of *rest, and the mark; false when it is not there.
 */
static bool cut_before(struct bytes *rest, struct bytes mark, struct bytes *out) {
    size_t at = bytes_find(*rest, mark);
    if (at == rest->len)
        return false;
    *out = bytes_cut(*rest, 0, at);
    *rest = bytes_cut(*rest, at + mark.len, rest->len);
    return true;
}

static int hex_value(char c) {
    if (ascii_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(struct bytes text, struct arena *arena, struct bytes *out) {
    char *to = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_value(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? hex_value(text.ptr[i + 2]) : -1;
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        to[len++] = c;
    }
    *out = (struct bytes){to, len};
    return true;
}

/* ---- who and where ---- */

static bool read_user(struct bytes text, struct arena *arena, struct redis_url *out) {
    struct bytes user = text, password = BYTES_NONE;
    size_t colon = bytes_find(text, BYTES(":"));
    if (colon < text.len) {
        user = bytes_cut(text, 0, colon);
        password = bytes_cut(text, colon + 1, text.len);
    }
    return decode(user, arena, &out->user) && decode(password, arena, &out->password);
}

/* host, host:port, [ipv6], [ipv6]:port */
static bool read_host(struct bytes text, struct redis_url *out) {
    struct bytes host = text, port = BYTES_NONE;
    bool bracket = bytes_starts(text, BYTES("["));
    size_t end = bytes_find(text, bracket ? BYTES("]") : BYTES(":"));
    if (bracket) {
        if (end == text.len)
            return false;
        host = bytes_cut(text, 1, end);
        port = bytes_cut(text, end + 1, text.len);
    } else if (end < text.len) {
        host = bytes_cut(text, 0, end);
        port = bytes_cut(text, end, text.len);
    }
    uint64_t number = REDIS_URL_PORT;
    if (port.len && (port.ptr[0] != ':' || !bytes_u64(bytes_cut(port, 1, port.len), &number)))
        return false;
    out->host = host;
    out->port = (uint16_t)number;
    return host.len > 0 && number > 0 && number <= UINT16_MAX;
}

static bool read_database(struct bytes text, struct redis_url *out) {
    uint64_t number = 0;
    if (text.len && (!bytes_u64(text, &number) || number > REDIS_URL_DATABASE_MAX))
        return false;
    out->database = (uint32_t)number;
    return true;
}

/* ---- what ---- */

static bool read_key(struct bytes text, struct redis_url *out) {
    out->key = text;
    return bytes_find(text, BYTES(REDIS_URL_ID)) < text.len;
}

static bool read_ttl(struct bytes text, struct redis_url *out) {
    return duration_parse(text, &out->ttl_ms) && out->ttl_ms > 0;
}

static const struct {
    const char *name;
    bool (*read)(struct bytes text, struct redis_url *out);
    const char *expected;
} parameters[] = {
    {"key", read_key, "a key with " REDIS_URL_ID " in it, such as result:" REDIS_URL_ID},
    {"ttl", read_ttl, "a duration such as 24h"},
};

static enum status read_parameter(struct bytes name, struct bytes value, struct redis_url *out,
                                  struct err *err) {
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        if (!bytes_is(name, parameters[i].name))
            continue;
        return parameters[i].read(value, out)
                   ? STATUS_OK
                   : err_set(err, STATUS_INVALID, "%s: expected %s, got \"%.*s\"",
                             parameters[i].name, parameters[i].expected,
                             BYTES_ARG(bytes_clip(value, 64)));
    }
    return err_set(err, STATUS_INVALID, "unknown parameter \"%.*s\": there are key and ttl",
                   BYTES_ARG(bytes_clip(name, 64)));
}

static enum status read_parameters(struct bytes rest, struct arena *arena, struct redis_url *out,
                                   struct err *err) {
    while (rest.len > 0) {
        struct bytes pair, name = BYTES_NONE, value;
        if (!cut_before(&rest, BYTES("&"), &pair)) {
            pair = rest;
            rest = BYTES_NONE;
        }
        if (!cut_before(&pair, BYTES("="), &name) || !decode(pair, arena, &value))
            return err_set(err, STATUS_INVALID, "expected name=value, got \"%.*s\"",
                           BYTES_ARG(bytes_clip(pair, 64)));
        enum status status = read_parameter(name, value, out, err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status redis_url_parse(struct bytes text, struct arena *arena, struct redis_url *out,
                            struct err *err) {
    *out = (struct redis_url){.port = REDIS_URL_PORT};
    if (!bytes_starts(text, SCHEME))
        return err_set(err, STATUS_INVALID, "it does not begin with redis://");
    struct bytes rest = bytes_cut(text, SCHEME.len, text.len), query = BYTES_NONE, head, user;
    if (cut_before(&rest, BYTES("?"), &head)) {
        query = rest;
        rest = head;
    }
    struct bytes place = rest, database = BYTES_NONE;
    if (cut_before(&rest, BYTES("/"), &place))
        database = rest;
    if (cut_before(&place, BYTES("@"), &user) && !read_user(user, arena, out))
        return err_set(err, STATUS_INVALID, "user and password are not percent-encoded well");
    if (!read_host(place, out))
        return err_set(err, STATUS_INVALID, "expected a host, or host:port");
    if (!read_database(database, out))
        return err_set(err, STATUS_INVALID, "expected the number of a database behind the /");
    enum status status = read_parameters(query, arena, out, err);
    if (status == STATUS_OK && out->key.len == 0)
        status = err_set(err, STATUS_INVALID, "it has no key, such as ?key=result:" REDIS_URL_ID);
    return status;
}
