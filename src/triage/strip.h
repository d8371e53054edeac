/* strip: headers that dead-letter machinery added to a message on its way here. Sent again with
 * them, a message would carry an old failure for its own, or be taken for something that it is
 * not. */
#ifndef TRIAGE_STRIP_H
#define TRIAGE_STRIP_H

#include "base/arena.h"
#include "core/envelope.h"

/* By its name alone, whatever message it is on. */
bool strip_is_diagnostic(struct bytes header);
/* The headers without those, and without what the convention by which the letter was adopted reads:
 * words like `retry-count`, which on another message may be its own. *out is the envelope's own
 * when there are none, or in the arena. */
size_t strip_headers(const struct envelope *envelope, struct arena *arena,
                     const struct rule_header **out);

#endif
