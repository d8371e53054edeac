/* known: the queues by name, with the store's numbers for them. They are all added before the
 * engine runs and never change, so they are asked for once; a push then needs no lock of the
 * engine's, and an answer that is written on the engine's own thread can still name them. */
#ifndef SERVER_KNOWN_H
#define SERVER_KNOWN_H

#include "engine/engine.h"

struct known;

struct known *known_new(struct engine *engine, struct store *store);
void known_free(struct known *known);
bool known_find(const struct known *known, struct bytes name, uint32_t *number);
/* "did you mean"; empty when nothing is near. */
struct bytes known_nearest(const struct known *known, struct bytes name);

#endif
