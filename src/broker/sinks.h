/* sinks: where answers and letters are published, one adapter for each URL of the configuration.
 * One thread at a time. */
#ifndef BROKER_SINKS_H
#define BROKER_SINKS_H

#include "port/clock.h"
#include "port/sink.h"

/* A zeroed one has none. */
struct sinks {
    struct sinks_entry *first;
};

/* NOT_FOUND: it is not the URL of a sink; INVALID: the URL is not right; NOT_YET: its adapter is
 * not in this version, or not in this build. err says why, without quoting it. */
enum status sinks_check(struct bytes url, struct err *err);
/* Whether something could be published there, as far as that shows without publishing; the URL was
 * checked. Waits for the network. OK with words in err: it is connected, and these say what could
 * not be looked at. */
enum status sinks_connect(struct bytes url, struct clock *clock, struct err *err);
/* The sink of that URL, which was checked when it was read; made if need be. */
struct sink *sinks_get(struct sinks *sinks, struct bytes url, struct clock *clock);
/* The same for a source's URL: what is published there goes back to its origin. */
struct sink *sinks_back(struct sinks *sinks, struct bytes source, struct clock *clock);
void sinks_free(struct sinks *sinks); /* nothing is on its way */

#endif
