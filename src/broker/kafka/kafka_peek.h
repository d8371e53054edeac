/* kafka_peek: a topic, read without a group and without a commit (port/peek.h). */
#ifndef BROKER_KAFKA_PEEK_H
#define BROKER_KAFKA_PEEK_H

#include "port/peek.h"

/* The URL was checked before; it need not name a group. A pass goes from the first record of every
 * partition to the last one that was there when it began. Pointers are followed (kafka_pointer.h).
 */
struct peek *kafka_peek_new(const struct broker_options *options);

#endif
