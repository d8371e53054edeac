/* origins: finds the server that a letter came from, so that the letter can go back there (`to:
 * origin`). */
#ifndef APP_ORIGINS_H
#define APP_ORIGINS_H

#include "config/config.h"
#include "triage/replay/replay.h"

/* The URL in the configuration of the source that a letter came from: that of its `adopt` entry,
 * else that of its queue. `words` describe the source, such as "kafka topic orders". INVALID: the
 * configuration has no such source, and err has the reason; the URL is borrowed from the
 * configuration. */
enum status origins_find(const struct config *config, const struct envelope *letter,
                         struct bytes *url, char words[REPLAY_ORIGIN_SIZE], struct err *err);

#endif
