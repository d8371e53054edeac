#include "broker/common/url.h"

#include "base/text/ascii.h"
#include "base/json/json_path.h"

/* Cuts the text before `mark`, and the mark, off the front of *rest. False: there is no mark, and
 * all of *rest was cut. */
static bool cut_before(struct bytes *rest, struct bytes mark, struct bytes *out) {
    size_t at = bytes_find(*rest, mark);
    bool found = at < rest->len;
    *out = bytes_cut(*rest, 0, at);
    *rest = bytes_cut(*rest, at + mark.len, rest->len);
    return found;
}

static size_t find_last(struct bytes text, char mark) {
    for (size_t i = text.len; i > 0; i--)
        if (text.ptr[i - 1] == mark)
            return i - 1;
    return text.len;
}

static int hex_value(char c) {
    if (ascii_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A NUL would end the text early in a client library. */
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
        if (c == '\0')
            return false;
        to[len++] = c;
    }
    *out = (struct bytes){to, len};
    return true;
}

static enum status badly_encoded(struct err *err, const char *what) {
    return err_set(err, STATUS_INVALID, "%s percent-encoded correctly", what);
}

/* ---- who and where ---- */

static enum status read_user(struct bytes text, struct arena *arena, struct url *out,
                             struct err *err) {
    struct bytes user;
    if (cut_before(&text, BYTES(":"), &user) && !decode(text, arena, &out->password))
        return badly_encoded(err, "the password is not");
    return decode(user, arena, &out->user) ? STATUS_OK : badly_encoded(err, "the user is not");
}

/* host, host:port, [ipv6], [ipv6]:port */
static bool read_host(struct bytes text, struct arena *arena, struct url_host *out) {
    struct bytes name = text, rest;
    bool bracket = bytes_starts(text, BYTES("["));
    size_t end = bytes_find(text, bracket ? BYTES("]") : BYTES(":"));
    if (bracket && end == text.len)
        return false;
    name = bytes_cut(text, bracket, end);
    rest = bytes_cut(text, end + bracket, text.len);
    uint64_t port = 0;
    if (rest.len && (rest.ptr[0] != ':' || !bytes_u64(bytes_cut(rest, 1, rest.len), &port) ||
                     port == 0 || port > UINT16_MAX))
        return false;
    out->port = (uint16_t)port;
    return name.len > 0 && decode(name, arena, &out->name);
}

static enum status read_hosts(struct bytes rest, struct arena *arena, struct url *out,
                              struct err *err) {
    bool more = true;
    while (more) {
        struct bytes host;
        more = cut_before(&rest, BYTES(","), &host);
        if (out->host_count == URL_HOSTS_MAX)
            return err_set(err, STATUS_INVALID, "it has more than %d hosts", URL_HOSTS_MAX);
        if (!read_host(host, arena, &out->hosts[out->host_count++]))
            return err_set(err, STATUS_INVALID, "expected a host, or host:port");
    }
    return STATUS_OK;
}

static enum status read_authority(struct bytes text, struct arena *arena, struct url *out,
                                  struct err *err) {
    size_t at = find_last(text, '@');
    if (at < text.len) {
        enum status status = read_user(bytes_cut(text, 0, at), arena, out, err);
        if (status != STATUS_OK)
            return status;
        text = bytes_cut(text, at + 1, text.len);
    }
    return read_hosts(text, arena, out, err);
}

/* ---- what ---- */

static enum status read_path(struct bytes text, struct arena *arena, struct url *out,
                             struct err *err) {
    if (bytes_find(text, BYTES("@")) < text.len)
        return err_set(err, STATUS_INVALID,
                       "there is an @ after a /: write %%40 for it there, or %%2F for a / in the "
                       "password");
    return decode(text, arena, &out->path) ? STATUS_OK : badly_encoded(err, "the path is not");
}

static enum status read_parameters(struct bytes rest, struct arena *arena, struct url *out,
                                   struct err *err) {
    while (rest.len > 0) {
        struct bytes pair, name;
        cut_before(&rest, BYTES("&"), &pair);
        struct url_parameter *parameter = &out->parameters[out->parameter_count];
        if (out->parameter_count++ == URL_PARAMETERS_MAX)
            return err_set(err, STATUS_INVALID, "it has more than %d parameters",
                           URL_PARAMETERS_MAX);
        if (!cut_before(&pair, BYTES("="), &name))
            return err_set(err, STATUS_INVALID, "expected name=value after the ?");
        if (!decode(name, arena, &parameter->name) || !decode(pair, arena, &parameter->value))
            return badly_encoded(err, "the query string is not");
    }
    return STATUS_OK;
}

static bool is_scheme(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.ptr[i]) && text.ptr[i] != '+')
            return false;
    return text.len > 0;
}

enum status url_parse(struct bytes text, struct arena *arena, struct url *out, struct err *err) {
    struct bytes scheme, front, authority;
    *out = (struct url){0};
    if (text.len > URL_TEXT_MAX)
        return err_set(err, STATUS_INVALID, "it is longer than %d bytes", URL_TEXT_MAX);
    if (!cut_before(&text, BYTES("://"), &scheme) || !is_scheme(scheme))
        return err_set(err, STATUS_INVALID, "it does not begin with a scheme, such as redis://");
    out->scheme = arena_dup(arena, scheme);
    cut_before(&text, BYTES("?"), &front);
    bool has_path = cut_before(&front, BYTES("/"), &authority);
    enum status status = read_authority(authority, arena, out, err);
    if (status == STATUS_OK && has_path)
        status = read_path(front, arena, out, err);
    return status == STATUS_OK ? read_parameters(text, arena, out, err) : status;
}

/* ---- parameters ---- */

bool url_id_path(struct bytes value, void *at) {
    struct err ignored;
    *(struct bytes *)at = value;
    return value.len == 0 || json_path_check(value, &ignored) == STATUS_OK;
}

struct bytes url_find_id(struct bytes path, struct bytes body, struct arena *arena) {
    struct json json, value;
    struct bytes id;
    if (path.len == 0 || json_parse(body, &json, NULL) != STATUS_OK ||
        !json_path_get(json, path, &value) || !json_string(value, arena, &id))
        return BYTES_NONE;
    return id.len > 0 && id.len <= URL_ID_MAX && bytes_is_printable(id) ? arena_dup(arena, id)
                                                                        : BYTES_NONE;
}

bool url_text(struct bytes value, void *at) {
    *(struct bytes *)at = value;
    return value.len > 0;
}

static enum status unknown(struct bytes name, const struct url_field *fields, size_t field_count,
                           struct err *err) {
    char memory[256];
    struct buf known;
    buf_init_fixed(&known, memory, sizeof memory);
    for (size_t i = 0; i < field_count; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", fields[i].name);
    return err_set(err, STATUS_INVALID, "unknown parameter \"%.*s\": there are %s",
                   BYTES_ARG(bytes_clip(name, 64)), buf_cstr(&known));
}

static bool stands_before(const struct url *url, size_t place) {
    for (size_t i = 0; i < place; i++)
        if (bytes_eq(url->parameters[i].name, url->parameters[place].name))
            return true;
    return false;
}

enum status url_read(const struct url *url, const struct url_field *fields, size_t field_count,
                     void *out, struct err *err) {
    for (size_t i = 0; i < url->parameter_count; i++) {
        struct bytes name = url->parameters[i].name, value = url->parameters[i].value;
        const struct url_field *field = fields, *end = fields + field_count;
        while (field < end && !bytes_is(name, field->name))
            field++;
        if (field == end)
            return unknown(name, fields, field_count, err);
        if (stands_before(url, i))
            return err_set(err, STATUS_INVALID, "%s is given twice", field->name);
        if (!field->read(value, (char *)out + field->offset))
            return err_set(err, STATUS_INVALID, "%s: expected %s, got \"%.*s\"", field->name,
                           field->expected, BYTES_ARG(bytes_clip(value, 64)));
    }
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status take(struct bytes text, const struct url_form *form, struct arena *arena,
                        void *out, struct err *err) {
    struct url url;
    enum status status = url_parse(text, arena, &url, err);
    if (status == STATUS_OK)
        status = form->place(&url, arena, out, err);
    if (status == STATUS_OK)
        status = url_read(&url, form->fields, form->field_count, out, err);
    return status == STATUS_OK ? form->check(out, err) : status;
}

enum status url_take(struct bytes text, const struct url_form *form, struct arena *arena, void *out,
                     struct err *err) {
    if (arena)
        return take(text, form, arena, out, err);
    struct arena own;
    arena_init_heap(&own, URL_TEXT_MAX);
    enum status status = take(text, form, &own, out, err);
    arena_free(&own);
    return status;
}

void url_hosts(const struct url *url, uint16_t port, struct url_host *out) {
    for (size_t i = 0; i < url->host_count; i++) {
        out[i] = url->hosts[i];
        if (!out[i].port)
            out[i].port = port;
    }
}

void url_show(struct bytes text, struct buf *out) {
    size_t start = bytes_find(text, BYTES("://"));
    size_t at = find_last(text, '@');
    if (start == text.len || at == text.len || at < start) {
        buf_bytes(out, text);
        return;
    }
    buf_bytes(out, bytes_cut(text, 0, start));
    buf_str(out, "://***");
    buf_bytes(out, bytes_cut(text, at, text.len));
}

bool url_is_named(struct bytes text) {
    struct bytes name;
    bool any = false;
    while (bytes_starts(text, BYTES("${")) && cut_before(&text, BYTES("}"), &name))
        any = true;
    return any && text.len == 0;
}

/* The password, or all of it where there is none. */
static struct bytes secret_of(struct bytes user) {
    struct bytes rest = user, name;
    return cut_before(&rest, BYTES(":"), &name) ? rest : user;
}

void url_mask(struct bytes text, struct buf *out) {
    struct bytes rest = text, scheme;
    bool is_url = cut_before(&rest, BYTES("://"), &scheme) && is_scheme(scheme);
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
        end++;
    struct bytes authority = bytes_cut(rest, 0, end);
    size_t at = find_last(authority, '@');
    struct bytes user = bytes_cut(authority, 0, at);
    if (!is_url || at == authority.len || url_is_named(secret_of(user))) {
        buf_bytes(out, text);
        return;
    }
    buf_bytes(out, scheme);
    buf_str(out, "://***");
    buf_bytes(out, bytes_cut(rest, at, rest.len));
}
