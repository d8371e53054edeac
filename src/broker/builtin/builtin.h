/* builtin: the embedded queue as a broker. Its messages are in the store; receive takes them from
 * the store's list of ready messages. */
#ifndef BROKER_BUILTIN_H
#define BROKER_BUILTIN_H

#include "port/broker.h"
#include "port/store.h"

struct broker *builtin_new(struct store *store, uint32_t queue);

#endif
