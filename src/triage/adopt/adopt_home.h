/* adopt_home: the queue that a dead letter belongs to because it died in the place which that queue
 * has for its source. */
#ifndef TRIAGE_ADOPT_HOME_H
#define TRIAGE_ADOPT_HOME_H

#include "base/arena.h"
#include "base/json.h"

struct adopt_home {
    const char *kind;    /* of the broker, as in an envelope's source: "kafka" */
    const char *member;  /* of an envelope's source, that names the place: "topic" */
    struct bytes name;   /* of the place */
    struct bytes queue;  /* whose source it is */
    struct bytes server; /* where the place is, as adopt_entry has it */
};

/* Whether that source, of an envelope at that server, names the place. */
bool adopt_home_is(const struct adopt_home *home, struct bytes server, struct json source);
/* BYTES_NONE: the place that an envelope's source names is no queue's, or more than one's. */
struct bytes adopt_home_find(const struct adopt_home *homes, size_t count, struct bytes server,
                             struct bytes source, struct arena *arena);

#endif
