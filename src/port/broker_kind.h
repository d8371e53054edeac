/* broker_kind: what the program knows of one kind of broker. Each adapter exports one, and
 * broker/registry.c lists them; no file outside the adapter's folder names the broker.
 *
 * All texts are literals. Lists end with NULL, or with a zeroed element. */
#ifndef PORT_BROKER_KIND_H
#define PORT_BROKER_KIND_H

#include "port/broker.h"
#include "port/peek.h"
#include "port/sink.h"
#include "port/spans.h"

enum { BROKER_PLACES_MAX = 5, BROKER_COORDINATES_MAX = 6, BROKER_NAMES_MAX = 3 };

/* A member of the `source` that this broker's messages have. */
struct broker_coordinate {
    const char *member;    /* "topic" */
    const char *attribute; /* of a span; NULL: none */
    bool number;           /* it is the position in the place, and a number */
    bool place;            /* it names a place; a message goes back to the first that it has */
};

struct broker_kind {
    const char *name;       /* "kafka", as in an envelope's source and in `impound version` */
    const char *schemes[2]; /* of its URLs, the second one with TLS */
    const char *library;    /* the client library that the adapter needs */

    /* The adapter; all NULL in a build without the library. */
    enum status (*source_check)(struct bytes url, struct err *err); /* INVALID: err says why */
    struct broker *(*source_new)(const struct broker_options *options);
    /* A source that is only looked at; its URL need not name a consumer. peek_new may be NULL: the
     * broker cannot be read without consuming. */
    enum status (*peek_check)(struct bytes url, struct err *err);
    struct peek *(*peek_new)(const struct broker_options *options);
    enum status (*sink_check)(struct bytes url, struct err *err);
    /* Whether something could be published, found out without publishing. OK with a text in err:
     * that could not be found out. */
    enum status (*sink_connect)(const struct sink_options *options, struct err *err);
    struct sink *(*sink_new)(const struct sink_options *options);

    /* A source's URL. The parameter that names the place has the name of its coordinate. */
    const char *place_parameters[BROKER_PLACES_MAX];
    const char *path_place;      /* the coordinate that the path names; NULL: it is no place … */
    const char *path_default;    /* … and an empty one means this */
    const char *group_parameter; /* the consumer group; NULL: messages name it, or there is none */

    /* Coordinates, places first and the usual one first of all. */
    struct broker_coordinate coordinates[BROKER_COORDINATES_MAX];
    /* A message whose source has this member is unique by its id, within the coordinate
     * `unique_within` where the id alone does not say. NULL: no message is. */
    const char *unique_by, *unique_within;
    bool same_headers;                              /* peeking and consuming give the same ones */
    const char *changing_headers[BROKER_NAMES_MAX]; /* they differ in each delivery */
    const char *kept_members[BROKER_NAMES_MAX];     /* of source: a letter's origin has them too */
};

/* The kind of this name; NULL: there is none. `kinds` ends with NULL. */
static inline const struct broker_kind *broker_kind_find(const struct broker_kind *const *kinds,
                                                         struct bytes name) {
    for (; *kinds; kinds++)
        if (bytes_is(name, (*kinds)->name))
            return *kinds;
    return NULL;
}

#endif
