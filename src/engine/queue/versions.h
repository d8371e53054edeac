/* versions: the releases of a queue's consumers that were seen, and when. Pure: time is an
 * argument. */
#ifndef ENGINE_VERSIONS_H
#define ENGINE_VERSIONS_H

#include "base/instant.h"
#include "core/version.h"

enum {
    VERSIONS_MAX = 8,              /* known at a time; the one seen longest ago is dropped */
    VERSIONS_RECENT_MS = 60 * 1000 /* a version seen within this time is in use */
};

struct versions {
    struct {
        char text[VERSION_TEXT_MAX]; /* "": none */
        struct mono seen;
    } known[VERSIONS_MAX];
};

/* An empty version is ignored. */
void versions_note(struct versions *versions, struct bytes version, struct mono now);
/* The versions in use: seen within VERSIONS_RECENT_MS, or, if there are none, the last one seen.
 * Borrowed; returns their number. */
size_t versions_in_use(const struct versions *versions, struct mono now,
                       const char *out[VERSIONS_MAX]);

#endif
