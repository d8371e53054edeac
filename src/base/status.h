/* status: errors of our own, by code.
 *
 * A failed message is not a status: core judges it (core/outcome.h). A bug is an assert. Everything
 * else, such as a full disk or an unknown name, is one of these; each has one HTTP status and one
 * exit code, so that all interfaces answer alike. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

/*        code          HTTP exit text */
#define STATUS_LIST(X)                                                                             \
    X(OK, 200, 0, "done")                                                                          \
    X(INVALID, 400, 1, "the input is not valid")                                                   \
    X(USAGE, 400, 2, "the command is not used like this")                                          \
    X(FORBIDDEN, 403, 1, "this is not allowed")                                                    \
    X(NOT_FOUND, 404, 4, "there is no such thing")                                                 \
    X(METHOD, 405, 1, "this path does not take that method")                                       \
    X(TIMEOUT, 408, 1, "it took too long to arrive")                                               \
    X(CONFLICT, 409, 1, "it conflicts with what is held")                                          \
    X(TOO_LARGE, 413, 1, "it is larger than its limit")                                            \
    X(URI_TOO_LONG, 414, 1, "the path is longer than its limit")                                   \
    X(MEDIA_TYPE, 415, 1, "the content type is not understood")                                    \
    X(HEAD_TOO_LARGE, 431, 1, "the headers are larger than their limit")                           \
    X(NOT_YET, 501, 1, "not in this version")                                                      \
    X(BUSY, 503, 1, "it cannot be taken now; try again later")                                     \
    X(IO, 503, 1, "the disk did not take it")                                                      \
    X(FULL, 503, 1, "the disk is full")                                                            \
    X(FENCED, 503, 1, "another node owns the queue now; try again later")                          \
    X(CORRUPT, 500, 1, "stored data is damaged")                                                   \
    X(UNREACHABLE, 502, 3, "the server cannot be reached")                                         \
    X(INTERNAL, 500, 1, "something went wrong inside impound")

enum status {
#define STATUS_ENUM(code, http, exit, text) STATUS_##code,
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
        STATUS_COUNT
};

const char *status_name(enum status status); /* "NOT_FOUND" */
const char *status_text(enum status status);
int status_http(enum status status);
int status_exit(enum status status);

/* Detail for the caller: what is wrong, where, and the remedy. */
struct err {
    enum status status;
    char text[512];
};

/* Fills *err (may be NULL) and returns the status, for `return err_set(…)`. */
__attribute__((format(printf, 3, 4))) enum status err_set(struct err *err, enum status status,
                                                          const char *format, ...);

#endif
