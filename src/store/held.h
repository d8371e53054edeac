/* held: a message as the port hands it out, made from its stored bytes. */
#ifndef STORE_HELD_H
#define STORE_HELD_H

#include "port/store.h"

/* Copies both. The envelope's state becomes *state, when that is not NULL. CORRUPT when the
 * envelope cannot be read. */
enum status held_new(uint64_t seq, struct bytes envelope, struct bytes body,
                     const enum state *state, struct store_held **out, struct err *err);

#endif
