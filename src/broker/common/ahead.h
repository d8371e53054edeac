/* ahead: how many messages a source may ask its server for, ahead of the engine.
 *
 * Bodies that were fetched count towards server.body_memory (base/body_memory.h) until their
 * message is settled. Sources fetch while the messages' half of it is used to less than a half, so
 * that the engine always has room to hand over what was fetched; and no more than fits, by the
 * typical size of a body. A source without messages in flight may always ask for one.
 *
 * Used by the source's own thread; ahead_note may be called by another one. */
#ifndef BROKER_AHEAD_H
#define BROKER_AHEAD_H

#include <stdatomic.h>

#include "port/broker.h"

struct ahead {
    struct body_memory *memory;     /* NULL: no limit */
    _Atomic uint64_t typical_bytes; /* of a body, estimated from the latest ones */
};

/* Until the first message is fetched, a body is assumed to have max_body bytes. */
void ahead_init(struct ahead *ahead, const struct broker_options *options);
/* Counts the body of a message that was fetched. */
void ahead_note(struct ahead *ahead, struct message *held);
/* How many more may be asked for, up to `most`. `coming` were asked for and are not here yet;
 * `ready` are here and were not received by the engine. */
size_t ahead_count(const struct ahead *ahead, size_t coming, size_t ready, size_t most);

#endif
