/* strip: headers that dead-letter machinery added to a message on its way here. Sent again with
 * them, a message would carry an old failure for its own, or be taken for something that it is
 * not. */
#ifndef TRIAGE_STRIP_H
#define TRIAGE_STRIP_H

#include "base/arena.h"
#include "core/rule.h"

bool strip_is_diagnostic(struct bytes header);
/* The headers without those. *out is `headers` itself when there are none, or in the arena. */
size_t strip_headers(const struct rule_header *headers, size_t count, struct arena *arena,
                     const struct rule_header **out);

#endif
