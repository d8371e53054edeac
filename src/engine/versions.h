/* versions: which releases of a queue's consumers were seen, and when. Pure: time is an argument.
 */
#ifndef ENGINE_VERSIONS_H
#define ENGINE_VERSIONS_H

#include "base/instant.h"
#include "core/version.h"

enum {
    VERSIONS_MAX = 8,              /* that are known at a time; the one seen longest ago goes */
    VERSIONS_RECENT_MS = 60 * 1000 /* what was seen within this is in use */
};

struct versions {
    struct {
        char text[VERSION_TEXT_MAX]; /* "": none */
        struct mono seen;
    } known[VERSIONS_MAX];
};

/* An empty version is none. */
void versions_note(struct versions *versions, struct bytes version, struct mono now);
/* Those in use: seen within VERSIONS_RECENT_MS, or where none was, the one that was seen last.
 * Borrowed; returns how many. */
size_t versions_in_use(const struct versions *versions, struct mono now,
                       const char *out[VERSIONS_MAX]);

#endif
