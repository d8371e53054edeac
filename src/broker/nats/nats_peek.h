/* nats_peek: a stream of NATS JetStream, read without taking.
 *
 * Messages are got by their sequences, so that no consumer hears of it. What the URL's
 * consumer has acknowledged or leaves out is not read; one that does not exist yet has acknowledged
 * nothing, and there need be none. Advisories are followed (nats_pointer.h), except those whose
 * server cannot be asked. */
#ifndef BROKER_NATS_PEEK_H
#define BROKER_NATS_PEEK_H

#include "port/peek.h"

struct peek *nats_peek_new(const struct broker_options *options);

#endif
