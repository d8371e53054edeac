/* nats_source: a durable pull consumer of NATS JetStream as a source.
 *
 * Messages in flight are renewed (+WPI) before the server would redeliver them, successes are
 * acknowledged (+ACK), dead letters terminated (+TERM), and unwanted messages given back (-NAK),
 * with the rest of their delay. */
#ifndef BROKER_NATS_SOURCE_H
#define BROKER_NATS_SOURCE_H

#include "port/broker.h"

/* INVALID: err says what is wrong with the URL. */
enum status nats_source_check(struct bytes url, struct err *err);
struct broker *nats_source_new(const struct broker_options *options);

#endif
