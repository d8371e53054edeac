/* rabbit_properties: the properties of an AMQP message: a dozen named ones and a table of typed
 * headers.
 *
 * In an envelope they are texts. So that a message can go back as it came, its properties are kept
 * beside them in AMQP's own bytes, without what the broker added on the way. */
#ifndef BROKER_RABBIT_PROPERTIES_H
#define BROKER_RABBIT_PROPERTIES_H

#include <amqp.h>
#include <amqp_framing.h>

#include "base/arena.h"
#include "port/sink.h"

/* The header with a message's key. */
#define RABBIT_PROPERTIES_KEY "impound-key"

/* Whether a header belongs to the broker, which rewrites it with each delivery or death. */
bool rabbit_properties_is_broker(struct bytes name);

/* The properties as texts: named ones first, then the table; content_type, delivery_mode and the
 * header of the key apart. At most `max`; texts live in the arena (heap). */
size_t rabbit_properties_texts(const amqp_basic_properties_t *properties, struct arena *arena,
                               struct rule_header *out, size_t max);
/* AMQP's bytes for them, without the counts of deliveries; in the arena. */
struct bytes rabbit_properties_encode(const amqp_basic_properties_t *properties,
                                      struct arena *arena);

/* What an item is published with: persistent, with its id, its key, its content type and its
 * headers. `kept` are the bytes that rabbit_properties_encode gave (empty: none): headers that are
 * the same as there have the types that they had, and so have the named properties; except what
 * belongs to the broker, routes it elsewhere (CC), lets it expire or says who published it. Texts
 * stay borrowed; the rest is in the pool. */
void rabbit_properties_make(const struct sink_item *item, struct bytes kept, amqp_pool_t *pool,
                            amqp_basic_properties_t *out);
/* Whether they fit a header frame of a connection whose frames have `frame_max` bytes at most. Uses
 * as many of `room`. */
bool rabbit_properties_fit(const amqp_basic_properties_t *properties, int frame_max, char *room);
/* Whether the message id and every header of `wanted` are there; headers that a server added are
 * ignored. */
bool rabbit_properties_has(const amqp_basic_properties_t *properties,
                           const amqp_basic_properties_t *wanted);

#endif
