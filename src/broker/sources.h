/* sources: the source of a queue: `builtin`, or a broker, by the scheme of its URL. */
#ifndef BROKER_SOURCES_H
#define BROKER_SOURCES_H

#include "port/broker.h"
#include "port/peek.h"

#define SOURCES_BUILTIN "builtin"

/* INVALID: the URL is wrong; NOT_YET: its adapter is not in this version, or not in this build. err
 * says which, without quoting the URL. */
enum status sources_check(struct bytes source, struct err *err);
/* The same for a source that is only peeked at, whose URL need not name a consumer. */
enum status sources_check_peek(struct bytes source, struct err *err);
/* The consumer group in the URL, where messages do not name it; BYTES_NONE: none. */
struct bytes sources_group(struct bytes source, struct arena *arena);
/* The name of the topic, list, stream or queue in the URL, and the member of an envelope's source
 * that has it: "topic". BYTES_NONE: the URL has none. */
struct bytes sources_place(struct bytes source, struct arena *arena, const char **member);
/* The server of the URL, with its database or virtual host: equal texts are the same server. */
struct bytes sources_server(struct bytes source, struct arena *arena);
/* The broker of a URL that was checked. */
struct broker *sources_new(const struct broker_options *options);
/* The kind of the broker of a URL, as in an envelope's source: "kafka"; NULL: none. */
const char *sources_broker(struct bytes url);
/* Reads without consuming; NULL: the broker cannot do that. */
struct peek *sources_peek(const struct broker_options *options);
/* Whether messages can be received, as far as known within `wait_ms`; receives none. err says why
 * not. */
enum status sources_connect(const struct broker_options *options, int64_t wait_ms, struct err *err);
/* Whether the source can be peeked at; reads nothing. */
enum status sources_look(const struct broker_options *options, int64_t wait_ms, struct err *err);

#endif
