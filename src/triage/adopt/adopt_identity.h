/* adopt_identity: what makes a dead letter at a broker the one that it is, so that it is known
 * again when it is given again. Pure. */
#ifndef TRIAGE_ADOPT_IDENTITY_H
#define TRIAGE_ADOPT_IDENTITY_H

#include "port/broker_kind.h"

enum { ADOPT_IDENTITY_SIZE = 65 };

struct adopt_identity {
    char text[ADOPT_IDENTITY_SIZE]; /* hex of SHA-256 */
    bool exact; /* by its coordinates, too: there is no second one that looks the same */
    char place[ADOPT_IDENTITY_SIZE]; /* of an exact one: its coordinates alone; else "" */
    /* Of the same kind, with what tells it from its equals at its broker; "": nothing does */
    char delivery[ADOPT_IDENTITY_SIZE];
};

/* As its broker gave it. By all that is the same each time that it is given: body, key and headers,
 * and among these its id and the record of its death. Where it has coordinates by these and such a
 * print, since a place that was deleted and made again counts from the start. Of a pointer that was
 * followed (source.origin) the print is of the pointer. */
void adopt_identity_of(const struct broker_kind *const *brokers, const struct message *held,
                       struct adopt_identity *out);

#endif
