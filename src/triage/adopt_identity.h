/* adopt_identity: what makes a dead letter at a broker the one that it is, so that it is known
 * again when it is given again. Pure. */
#ifndef TRIAGE_ADOPT_IDENTITY_H
#define TRIAGE_ADOPT_IDENTITY_H

#include "port/store.h"

enum { ADOPT_IDENTITY_SIZE = 65 };

struct adopt_identity {
    char text[ADOPT_IDENTITY_SIZE]; /* hex of SHA-256 */
    bool exact; /* by its coordinates: there is no second one that looks the same */
    /* Of the same kind, with what tells it from its equals at its broker; "": nothing does */
    char delivery[ADOPT_IDENTITY_SIZE];
};

/* As its broker gave it. By its coordinates where it has some, else by all that is the same each
 * time that it is given: body, key and headers, and among these its id and the record of its death.
 */
void adopt_identity_of(const struct store_held *held, struct adopt_identity *out);

#endif
