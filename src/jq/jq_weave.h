/* jq_weave: prints a program's result with every unchanged byte of the input (SEMANTICS 10.1):
 * order of members, spacing, 1.0 and 20-digit numbers survive an edit. */
#ifndef JQ_JQ_WEAVE_H
#define JQ_JQ_WEAVE_H

#include <jq.h>

#include "jq/jq_exact.h"

/* Appends `after` as JSON. `before` is the value that jq parsed from `input`. Consumes both values.
 */
void jq_weave(const struct jq_exact *exact, struct bytes input, jv before, jv after,
              struct buf *out);

#endif
