/* url: SCHEME://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…][/PATH][?NAME=VALUE[&…]] taken apart,
 * the same way for every broker. Pure.
 *
 * Every text is decoded and has a NUL behind it. What is said of a URL that is not right never
 * quotes its user, password or hosts: a password that was not percent-encoded may have spilled into
 * them. */
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
    uint16_t port;     /* 0: not said */
};

struct url_parameter {
    struct bytes name, value;
};

struct url {
    struct bytes scheme;
    struct bytes user, password; /* ptr NULL: none */
    struct url_host hosts[URL_HOSTS_MAX];
    size_t host_count; /* at least 1 */
    struct bytes path; /* behind the first /; ptr NULL: there is none */
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
/* `id`: a path into the body that finds a message's id; empty: nothing does. */
bool url_id_path(struct bytes value, void *at);
#define URL_ID_EXPECTED "a path into the body such as .order.id, or nothing"
/* The id that the path finds in a JSON body: a text that can be one; in the arena. BYTES_NONE:
 * there is none. */
struct bytes url_find_id(struct bytes path, struct bytes body, struct arena *arena);
/* Each parameter through its field. INVALID: it is unknown, stands twice, or is not as expected. */
enum status url_read(const struct url *url, const struct url_field *fields, size_t field_count,
                     void *out, struct err *err);

/* What an adapter makes of a URL: `place` sets its whole struct from everything but the parameters,
 * those go through the fields, and `check` has the last word. */
struct url_form {
    enum status (*place)(const struct url *url, struct arena *arena, void *out, struct err *err);
    const struct url_field *fields;
    size_t field_count;
    enum status (*check)(void *out, struct err *err);
};
#define URL_FORM(place, fields, check)                                                             \
    { place, fields, sizeof(fields) / sizeof *(fields), check }
/* Without an arena it only tells whether the URL is right: the texts of `out` are gone. */
enum status url_take(struct bytes text, const struct url_form *form, struct arena *arena, void *out,
                     struct err *err);
/* The hosts, with `port` where none is said. */
void url_hosts(const struct url *url, uint16_t port, struct url_host *out);

/* The URL as people may see it: with *** for what stands before an @. Any text. */
void url_show(struct bytes text, struct buf *out);
/* The same for one that is right, whose path and parameters may have an @; a password that stands
 * in the environment is no secret. A text that does not begin as a URL stays as it is. */
void url_mask(struct bytes text, struct buf *out);
bool url_is_named(struct bytes text); /* nothing but ${NAME}: it stands in the environment */

#endif
