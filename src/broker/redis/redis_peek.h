/* redis_peek: what lies in a Redis list, stream or sorted set, read without taking it. */
#ifndef BROKER_REDIS_PEEK_H
#define BROKER_REDIS_PEEK_H

#include "port/peek.h"

struct peek *redis_peek_new(const struct broker_options *options);

#endif
