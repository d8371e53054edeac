/* read_only: a letter that was adopted by looking at it (adopt.h) is its broker's. What people or
 * rules decide about it would not be so there, so that they are refused until it is taken. */
#ifndef TRIAGE_READ_ONLY_H
#define TRIAGE_READ_ONLY_H

#include "base/status.h"
#include "core/envelope.h"

/* CONFLICT: says that the letter is read-only, and what would change that. `id` is how it was asked
 * for. */
enum status read_only_refuse(const struct envelope *envelope, struct bytes id, struct err *err);
/* CONFLICT: the same of `count` letters, none of which may be decided about. */
enum status read_only_refuse_all(uint64_t count, struct err *err);

#endif
