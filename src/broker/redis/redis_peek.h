/* redis_peek: a Redis list, stream or sorted set, read without consuming. */
#ifndef BROKER_REDIS_PEEK_H
#define BROKER_REDIS_PEEK_H

#include "port/peek.h"

struct peek *redis_peek_new(const struct broker_options *options);

#endif
