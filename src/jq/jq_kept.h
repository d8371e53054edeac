/* jq_kept: a cache of compiled programs. Compiling takes some 25 ms, most of it for jq's own
 * library, and running a small program some 2 µs; a compiled one takes a few kilobytes. */
#ifndef JQ_JQ_KEPT_H
#define JQ_JQ_KEPT_H

#include <jq.h>

#include "jq/jq_exact.h"

struct jq_kept;

/* Keeps at most `max` programs (at least 1). `exact` is borrowed until free. */
struct jq_kept *jq_kept_new(const struct jq_exact *exact, size_t max);
void jq_kept_free(struct jq_kept *kept);
/* The compiled program for an input with or without marked numbers; borrowed until the next call.
 * NULL: *out has the compiler's message. */
jq_state *jq_kept_get(struct jq_kept *kept, struct bytes program, bool input_marked,
                      struct buf *out);
/* Number of programs compiled so far. */
size_t jq_kept_compiled(const struct jq_kept *kept);

/* Removes a program that must not be run again. */
void jq_kept_drop(struct jq_kept *kept, const jq_state *state);

#endif
