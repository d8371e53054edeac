/* nats_source: a durable pull consumer of NATS JetStream as a source.
 *
 * What is at hand or under way is renewed (+WPI) before the server would give it to somebody else,
 * what succeeded is acknowledged (+ACK), what died is terminated (+TERM), and what nobody needs
 * here any more is given back (-NAK), with the rest of its delay. */
#ifndef BROKER_NATS_SOURCE_H
#define BROKER_NATS_SOURCE_H

#include "port/broker.h"

/* INVALID: err says what is wrong with the URL. */
enum status nats_source_check(struct bytes url, struct err *err);
struct broker *nats_source_new(const struct broker_options *options);

#endif
