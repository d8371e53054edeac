/* read_only: a letter adopted with mode: peek (adopt.h) still belongs to its broker. A decision
 * about it would not take effect there, so it is refused until the message is taken. */
#ifndef TRIAGE_DECIDE_READ_ONLY_H
#define TRIAGE_DECIDE_READ_ONLY_H

#include "base/status.h"
#include "core/envelope/envelope.h"

/* CONFLICT: the letter is read-only, with the remedy. `id` is the id in the request. */
enum status read_only_refuse(const struct envelope *envelope, struct bytes id, struct err *err);
/* CONFLICT: `count` letters are read-only. */
enum status read_only_refuse_all(uint64_t count, struct err *err);

#endif
