/* builtin: the embedded queue. Its messages live in the store; this is the store's ready list with
 * a broker's manners. */
#ifndef BROKER_BUILTIN_H
#define BROKER_BUILTIN_H

#include "port/broker.h"
#include "port/store.h"

struct broker *builtin_new(struct store *store, uint32_t queue);

#endif
