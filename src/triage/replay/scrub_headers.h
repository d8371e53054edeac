/* scrub_headers: removes the headers that dead-letter handling added to a message. If they were
 * sent again, the message would carry an old failure as its own, or match a convention wrongly. */
#ifndef TRIAGE_REPLAY_SCRUB_HEADERS_H
#define TRIAGE_REPLAY_SCRUB_HEADERS_H

#include "base/arena.h"
#include "core/envelope/envelope.h"

/* Whether the name alone marks a diagnostic header. */
bool scrub_is_diagnostic(struct bytes header);
/* The headers without diagnostic ones, and without those that the letter's own convention reads:
 * names like `retry-count`, which may belong to the message where there is no such convention. *out
 * is the envelope's array if nothing is removed, otherwise in the arena. */
size_t scrub_headers(const struct envelope *envelope, struct arena *arena,
                     const struct rule_header **out);

#endif
