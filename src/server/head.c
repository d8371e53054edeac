#include "server/head.h"

#include "base/http_field.h"

enum { HEAD_QUOTE_MAX = 64, HEAD_METHOD_MAX = 32 };

/* What the header lines have told so far. */
struct fields {
    size_t count;
    bool host, length;
};

/* Cuts the next line off *rest; false when its end has not come yet. */
static bool next_line(struct bytes *rest, struct bytes *line) {
    return bytes_find(*rest, BYTES("\n")) < rest->len && bytes_line(rest, line);
}

static size_t count_args(struct bytes target) {
    size_t count = 0;
    for (size_t at = bytes_find(target, BYTES("?")); at < target.len; count++)
        at += 1 + bytes_find(bytes_cut(target, at + 1, target.len), BYTES("&"));
    return count;
}

static enum status check_target(struct bytes target, struct err *err) {
    if (target.len > HEAD_TARGET_MAX)
        return err_set(err, STATUS_URI_TOO_LONG,
                       "path and query are longer than %dKiB, which is the limit",
                       HEAD_TARGET_MAX / 1024);
    if (count_args(target) > HEAD_ARGS_MAX)
        return err_set(err, STATUS_INVALID,
                       "there are more than %d query parameters, which is the limit",
                       HEAD_ARGS_MAX);
    return STATUS_OK;
}

/* "GET /path HTTP/1.1", or as much of it as has come. */
static enum status check_request_line(struct bytes line, bool whole, bool *needs_host,
                                      struct err *err) {
    struct bytes method = bytes_cut(line, 0, bytes_find(line, BYTES(" ")));
    if (line.len > 0 && (method.len > HEAD_METHOD_MAX || !http_field_is_name(method)))
        return err_set(err, STATUS_INVALID,
                       "this is not an HTTP request; impound speaks plain HTTP/1.1, without TLS");
    struct bytes rest = bytes_cut(line, method.len + 1, line.len);
    struct bytes target = bytes_cut(rest, 0, bytes_find(rest, BYTES(" ")));
    enum status status = check_target(target, err);
    if (status != STATUS_OK || !whole)
        return status;
    struct bytes version = bytes_cut(rest, target.len + 1, rest.len);
    *needs_host = bytes_is(version, "HTTP/1.1");
    if (target.len > 0 && (*needs_host || bytes_is(version, "HTTP/1.0")))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "the request line \"%.*s\" is not \"METHOD /path HTTP/1.1\"",
                   BYTES_ARG(bytes_clip(line, HEAD_QUOTE_MAX)));
}

static enum status check_length(struct bytes value, bool again, struct err *err) {
    uint64_t length;
    if (!again && bytes_u64(value, &length))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   again ? "Content-Length is given twice"
                         : "Content-Length is not a body's length");
}

static enum status check_field(struct fields *fields, struct bytes line, struct err *err) {
    if (++fields->count > HEAD_FIELDS_MAX)
        return err_set(err, STATUS_HEAD_TOO_LARGE,
                       "there are more than %d header lines, which is the limit", HEAD_FIELDS_MAX);
    struct bytes name = bytes_cut(line, 0, bytes_find(line, BYTES(":")));
    struct bytes value = bytes_trim(bytes_cut(line, name.len + 1, line.len));
    if (name.len == line.len || !http_field_is_name(name) || !http_field_is_value(value))
        return err_set(err, STATUS_INVALID, "header line %zu is not \"Name: value\"",
                       fields->count);
    if (bytes_eq_nocase(name, BYTES("Transfer-Encoding")) &&
        !bytes_eq_nocase(value, BYTES("chunked")))
        return err_set(err, STATUS_INVALID, "the only Transfer-Encoding taken is chunked");
    if (bytes_eq_nocase(name, BYTES("Host")))
        fields->host = true;
    if (!bytes_eq_nocase(name, BYTES("Content-Length")))
        return STATUS_OK;
    enum status status = check_length(value, fields->length, err);
    fields->length = true;
    return status;
}

static enum status check_fields(struct bytes rest, bool needs_host, bool *whole, struct err *err) {
    struct fields fields = {0};
    struct bytes line;
    while (next_line(&rest, &line)) {
        if (line.len > 0) {
            enum status status = check_field(&fields, line, err);
            if (status != STATUS_OK)
                return status;
            continue;
        }
        *whole = true;
        if (needs_host && !fields.host)
            return err_set(err, STATUS_INVALID, "the request has no Host header");
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* An empty line or two before a request is an old habit, and harmless. */
static struct bytes skip_empty_lines(struct bytes seen) {
    size_t at = 0;
    while (at < seen.len && (seen.ptr[at] == '\r' || seen.ptr[at] == '\n'))
        at++;
    return bytes_cut(seen, at, seen.len);
}

enum status head_check(struct bytes seen, bool *whole, struct err *err) {
    struct bytes rest = skip_empty_lines(seen), line = rest;
    bool needs_host = false;
    *whole = false;
    bool has_line = next_line(&rest, &line);
    enum status status = check_request_line(line, has_line, &needs_host, err);
    if (status == STATUS_OK && has_line)
        status = check_fields(rest, needs_host, whole, err);
    if (status == STATUS_OK && !*whole && seen.len > HEAD_BYTES_MAX)
        status = err_set(err, STATUS_HEAD_TOO_LARGE,
                         "request line and headers are larger than %dKiB, which is the limit",
                         HEAD_BYTES_MAX / 1024);
    return status;
}

bool head_is_bodiless(struct bytes seen) {
    return bytes_starts(skip_empty_lines(seen), BYTES("HEAD "));
}
