/* origins: which server a letter came from, so that it can go back there (`to: origin`). */
#ifndef APP_ORIGINS_H
#define APP_ORIGINS_H

#include "config/config.h"
#include "triage/replay/replay.h"

/* The source's URL of the configuration that leads to where a letter came from: that of the `adopt`
 * entry that found it, else its queue's. `words` say where that is, such as "kafka topic orders".
 * INVALID: nothing leads there, and err says why; the URL is borrowed from the configuration. */
enum status origins_find(const struct config *config, const struct envelope *letter,
                         struct bytes *url, char words[REPLAY_ORIGIN_SIZE], struct err *err);

#endif
