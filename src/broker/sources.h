/* sources: where a queue's messages come from: `builtin`, or the broker that its URL's scheme
 * names. */
#ifndef BROKER_SOURCES_H
#define BROKER_SOURCES_H

#include "port/broker.h"
#include "port/peek.h"

#define SOURCES_BUILTIN "builtin"

/* INVALID: the URL is not right; NOT_YET: its adapter is not in this version, or not in this build.
 * err says which, without quoting it. */
enum status sources_check(struct bytes source, struct err *err);
/* The same for one that is only looked at, which need not say who consumes. */
enum status sources_check_peek(struct bytes source, struct err *err);
/* The consumer group that its URL names, where messages do not say; BYTES_NONE: none. */
struct bytes sources_group(struct bytes source, struct arena *arena);
/* What it calls the place where messages lie (a topic's, a list's, a stream's name …), and which
 * member of an envelope's source that is: "topic". BYTES_NONE: it names none. */
struct bytes sources_place(struct bytes source, struct arena *arena, const char **member);
/* Which server it leads to, with what part of it: equal texts are the same. */
struct bytes sources_server(struct bytes source, struct arena *arena);
/* The broker of a URL that was checked. */
struct broker *sources_new(const struct broker_options *options);
/* The kind of the broker that a URL leads to, as in an envelope's source: "kafka"; NULL: none. */
const char *sources_broker(struct bytes url);
/* A pass over what lies there; NULL: its broker cannot be read without taking. */
struct peek *sources_peek(const struct broker_options *options);
/* Whether messages could come, as known within `wait_ms`; takes none. err says why not. */
enum status sources_connect(const struct broker_options *options, int64_t wait_ms, struct err *err);
/* Whether what lies there could be looked at; reads nothing. */
enum status sources_look(const struct broker_options *options, int64_t wait_ms, struct err *err);

#endif
