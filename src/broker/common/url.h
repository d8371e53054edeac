/* url: SCHEME://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…][/PATH][?NAME=VALUE[&…]] parsed,
 * the same way for every broker. Pure.
 *
 * Every text is decoded and ends with a NUL. Errors about a URL never quote its user, password or
 * hosts: a password that was not percent-encoded may be parsed as part of them. */
#ifndef BROKER_URL_H
#define BROKER_URL_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum {
    URL_TEXT_MAX = 4096, /* bytes of a whole URL */
    URL_HOSTS_MAX = 16,
    URL_PARAMETERS_MAX = 32,
    URL_ID_MAX = 255, /* bytes, SEMANTICS 1.1 */
};

struct url_host {
    struct bytes name; /* an IPv6 address without its brackets */
    uint16_t port;     /* 0: none given */
};

struct url_parameter {
    struct bytes name, value;
};

struct url {
    struct bytes scheme;
    struct bytes user, password; /* ptr NULL: none */
    struct url_host hosts[URL_HOSTS_MAX];
    size_t host_count; /* at least 1 */
    struct bytes path; /* after the first /; ptr NULL: there is none */
    struct url_parameter parameters[URL_PARAMETERS_MAX];
    size_t parameter_count;
};

/* Texts live in the arena (heap). INVALID: err says what is wrong with it. */
enum status url_parse(struct bytes text, struct arena *arena, struct url *out, struct err *err);

/* One parameter that an adapter knows, and where it goes in the adapter's own struct. */
struct url_field {
    const char *name;
    bool (*read)(struct bytes value, void *at); /* the value outlives the call */
    size_t offset;                              /* of what `read` gets */
    const char *expected;                       /* "a duration such as 24h" */
};
#define URL_FIELD(name, read, type, member, expected)                                              \
    { name, read, offsetof(type, member), expected }
/* Reads into a struct bytes what is not empty. */
bool url_text(struct bytes value, void *at);
/* `id`: a path into the body to a message's id; empty: messages have none there. */
bool url_id_path(struct bytes value, void *at);
#define URL_ID_EXPECTED "a path into the body such as .order.id, or nothing"
/* The id that the path finds in a JSON body: a text that can be one; in the arena. BYTES_NONE:
 * there is none. */
struct bytes url_find_id(struct bytes path, struct bytes body, struct arena *arena);
/* Reads each parameter through its field. INVALID: one is unknown, given twice, or not as expected.
 */
enum status url_read(const struct url *url, const struct url_field *fields, size_t field_count,
                     void *out, struct err *err);

/* How an adapter reads a URL: `place` sets the whole struct from everything but the parameters,
 * those go through the fields, and `check` looks at the result. */
struct url_form {
    enum status (*place)(const struct url *url, struct arena *arena, void *out, struct err *err);
    const struct url_field *fields;
    size_t field_count;
    enum status (*check)(void *out, struct err *err);
};
#define URL_FORM(place, fields, check)                                                             \
    { place, fields, sizeof(fields) / sizeof *(fields), check }
/* Without an arena the URL is only checked: the texts of `out` are invalid. */
enum status url_take(struct bytes text, const struct url_form *form, struct arena *arena, void *out,
                     struct err *err);
/* The hosts, with `port` where the URL has none. */
void url_hosts(const struct url *url, uint16_t port, struct url_host *out);

/* The URL without its secrets: *** replaces everything before an @. Takes any text. */
void url_show(struct bytes text, struct buf *out);
/* The same for a URL that was checked, whose path and parameters may have an @; a password that is
 * a reference to the environment is no secret. A text that does not start as a URL is copied. */
void url_mask(struct bytes text, struct buf *out);
bool url_is_named(struct bytes text); /* nothing but ${NAME}: a reference to the environment */

#endif
