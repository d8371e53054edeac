/* broker_kind: the description of one kind of broker: URL schemes, constructors, names of source
 * coordinates. Each adapter exports one, and broker/registry.c lists them; no file outside the
 * adapter's folder names the broker.
 *
 * All texts are literals. Lists end with NULL, or with a zeroed element. */
#ifndef PORT_BROKER_KIND_H
#define PORT_BROKER_KIND_H

#include "port/broker.h"
#include "port/peek.h"
#include "port/sink.h"
#include "port/spans.h"

enum { BROKER_PLACES_MAX = 5, BROKER_COORDINATES_MAX = 6, BROKER_NAMES_MAX = 3 };

/* A member of the envelope's `source` object for messages of this broker. */
struct broker_coordinate {
    const char *member;    /* "topic" */
    const char *attribute; /* the name of the span attribute; NULL: none */
    /* True: an integer, the message's position (offset) within the topic, list or queue. */
    bool number;
    /* True: names a topic, list or queue; a message is sent back to the first one that it has. */
    bool place;
};

struct broker_kind {
    const char *name;       /* "kafka", as in an envelope's source and in `impound version` */
    const char *schemes[2]; /* URL schemes; the second one uses TLS */
    const char *library;    /* the client library that the adapter needs */

    /* The adapter's functions; all NULL in a build without the library. */
    enum status (*source_check)(struct bytes url, struct err *err); /* INVALID: err says why */
    struct broker *(*source_new)(const struct broker_options *options);
    /* Checks the URL of a source that is peeked at; it need not name a consumer. peek_new is NULL
     * if the broker cannot be read without consuming. */
    enum status (*peek_check)(struct bytes url, struct err *err);
    struct peek *(*peek_new)(const struct broker_options *options);
    enum status (*sink_check)(struct bytes url, struct err *err);
    /* Checks whether messages could be published, without publishing one. OK with a text in err:
     * the check was not possible. */
    enum status (*sink_connect)(const struct sink_options *options, struct err *err);
    struct sink *(*sink_new)(const struct sink_options *options);

    /* The parameters of a source URL that name a topic, list or queue. Each has the name of its
     * coordinate. */
    const char *place_parameters[BROKER_PLACES_MAX];
    /* The coordinate that the URL's path names; NULL: the path names none. */
    const char *path_place;
    const char *path_default; /* its value if the path is empty */
    /* The URL parameter for the consumer group; NULL: messages name it, or there is none. */
    const char *group_parameter;

    /* Coordinates: those with `place` first, the most common one at index 0. */
    struct broker_coordinate coordinates[BROKER_COORDINATES_MAX];
    /* A message whose source has the member `unique_by` is identified by that id; where the id
     * alone is not unique, together with the coordinate `unique_within`. NULL: no message is. */
    const char *unique_by, *unique_within;
    /* Peeking and consuming return the same headers. */
    bool same_headers;
    const char *changing_headers[BROKER_NAMES_MAX]; /* headers that differ in each delivery */
    /* Members of `source` that are copied to the letter's origin. */
    const char *kept_members[BROKER_NAMES_MAX];
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
