/* adopt_home: the queue of a dead letter, found by the place in which it died: the queue whose
 * source is that place. */
#ifndef TRIAGE_ADOPT_HOME_H
#define TRIAGE_ADOPT_HOME_H

#include "base/arena.h"
#include "base/json/json.h"

struct adopt_home {
    const char *kind;    /* the broker's kind, as in an envelope's source: "kafka" */
    const char *member;  /* the member of an envelope's source that names the place: "topic" */
    struct bytes name;   /* the place's name */
    struct bytes queue;  /* the queue that has it as its source */
    struct bytes server; /* the server, as in adopt_entry */
};

/* Whether the source of an envelope from that server names the place. */
bool adopt_home_is(const struct adopt_home *home, struct bytes server, struct json source);
/* The queue whose source is the place that the envelope's source names. BYTES_NONE: no queue, or
 * more than one. */
struct bytes adopt_home_find(const struct adopt_home *homes, size_t count, struct bytes server,
                             struct bytes source, struct arena *arena);

#endif
