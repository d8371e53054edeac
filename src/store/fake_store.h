/* fake_store: the store port in memory, for tests of the layers above it. It keeps all promises of
 * the port except durability: `done` is called from fake_store_step, or from submit if `immediate`.
 */
#ifndef STORE_FAKE_STORE_H
#define STORE_FAKE_STORE_H

#include "port/letters.h"

struct store *fake_store_new(bool immediate);
void fake_store_step(struct store *store);
/* The next `count` commits fail with this status. */
void fake_store_fail(struct store *store, enum status status, size_t count);

#endif
