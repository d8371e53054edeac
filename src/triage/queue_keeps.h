/* queue_keeps: the texts that are kept for a queue go with it when it gets another name: which
 * idempotency keys succeeded, and the answers that are kept. */
#ifndef TRIAGE_QUEUE_KEEPS_H
#define TRIAGE_QUEUE_KEEPS_H

#include "triage/audit.h"

/* Moves them from the queue of number `from` to that of number `to`, whose name is `name`, each
 * with the time at which it expires (to the second). The audit entry is part of every commit. A key
 * that both queues remember is remembered until the later of both times; an answer for whose id the
 * new queue keeps one already stays where it is. After trouble or a kill, calling it again moves
 * the rest. Waits. */
enum status queue_keeps_move(struct triage *triage, const struct audit_entry *entry, uint32_t from,
                             uint32_t to, struct bytes name, struct err *err);

#endif
