/* adopt_identity: the identity of a dead letter at a broker, by which a redelivery is recognised.
 * Pure. */
#ifndef TRIAGE_ADOPT_IDENTITY_H
#define TRIAGE_ADOPT_IDENTITY_H

#include "port/broker_kind.h"

enum { ADOPT_IDENTITY_SIZE = 65 };

struct adopt_identity {
    char text[ADOPT_IDENTITY_SIZE];  /* hex of SHA-256 */
    bool exact;                      /* has coordinates: no other message has the same identity */
    char place[ADOPT_IDENTITY_SIZE]; /* exact: hash of the coordinates alone; otherwise "" */
    /* Hash that includes message.delivery, which distinguishes messages with equal content at their
     * broker; "": there is none */
    char delivery[ADOPT_IDENTITY_SIZE];
};

/* The identity of a message as its broker delivered it: a hash of body, key and headers, which
 * include its id and death record. Where it has coordinates, a hash of these and of the content,
 * since a place that was deleted and created again counts from the start. For a pointer that was
 * followed (source.origin) the content is the pointer's. */
void adopt_identity_of(const struct broker_kind *const *brokers, const struct message *held,
                       struct adopt_identity *out);

#endif
