/* sinks: where answers are published, one adapter for each URL of the configuration. */
#ifndef APP_SINKS_H
#define APP_SINKS_H

#include "port/clock.h"
#include "port/sink.h"

/* A zeroed one has none. */
struct sinks {
    struct sinks_entry *first;
};

/* The sink of that URL, which was checked when it was read; made if need be. */
struct sink *sinks_get(struct sinks *sinks, struct bytes url, struct clock *clock);
void sinks_free(struct sinks *sinks); /* nothing is on its way */

#endif
