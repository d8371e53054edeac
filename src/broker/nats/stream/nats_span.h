/* nats_span: the sequences of a stream that a peek reads. Pure. */
#ifndef BROKER_NATS_SPAN_H
#define BROKER_NATS_SPAN_H

#include "base/json/json.h"

struct nats_span {
    uint64_t next, last; /* sequences; next > last: there is nothing (more) */
    struct bytes filter; /* of subjects; in the arena */
};

/* From the answer to STREAM.INFO. False: it has none. */
bool nats_span_of_stream(struct json info, struct nats_span *out);
/* Leaves out what the consumer has acknowledged and what its filter excludes: from the answer to
 * CONSUMER.INFO. */
void nats_span_for_consumer(struct json info, struct arena *arena, struct nats_span *span);

#endif
