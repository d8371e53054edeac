/* nats_peek: a stream of NATS JetStream, read without consuming.
 *
 * Messages are read by their sequences, which changes nothing at any consumer. Messages that the
 * URL's consumer has acknowledged or that its filter excludes are left out; the URL need not name a
 * consumer, and the consumer need not exist. Advisories are followed (nats_pointer.h), except those
 * whose server cannot be asked. */
#ifndef BROKER_NATS_PEEK_H
#define BROKER_NATS_PEEK_H

#include "port/peek.h"

struct peek *nats_peek_new(const struct broker_options *options);

#endif
