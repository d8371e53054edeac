/* nats_end: how a thread of the library tells ours that it has ended something. */
#ifndef BROKER_NATS_END_H
#define BROKER_NATS_END_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/bell.h"

struct nats_end {
    atomic_bool ended;
    atomic_bool left; /* and touches nothing of ours any more */
};

void nats_end_begin(struct nats_end *end);
/* From the library's thread: rings the bell. */
void nats_end_tell(struct nats_end *end, struct bell *bell);
/* Whoever has awaited it may free the bell. */
void nats_end_await(struct nats_end *end, struct bell *bell);

#endif
