/* status: the table of status codes. */
#include "base/status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    const char *text;
    int http;
    int exit;
} table[STATUS_COUNT] = {
#define STATUS_ROW(code, http, exit, text) {#code, text, http, exit},
    STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

const char *status_name(enum status status) {
    assert(status < STATUS_COUNT);
    return table[status].name;
}

const char *status_text(enum status status) {
    assert(status < STATUS_COUNT);
    return table[status].text;
}

int status_http(enum status status) {
    assert(status < STATUS_COUNT);
    return table[status].http;
}

int status_exit(enum status status) {
    assert(status < STATUS_COUNT);
    return table[status].exit;
}

enum status err_set(struct err *err, enum status status, const char *format, ...) {
    if (!err)
        return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}
