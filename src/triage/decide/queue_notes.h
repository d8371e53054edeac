/* queue_notes: moves a queue's stored notes when it is renamed: idempotency keys that succeeded,
 * and kept answers. */
#ifndef TRIAGE_DECIDE_QUEUE_NOTES_H
#define TRIAGE_DECIDE_QUEUE_NOTES_H

#include "triage/query/audit.h"

/* Moves the notes from queue number `from` to number `to`, whose name is `name`, each with its
 * expiry (to the second). The audit entry is part of every commit. A key that both queues have is
 * kept until the later of both times; an answer stays where it is if the new queue has one for its
 * id already. After an error or a crash, calling it again moves the rest. Waits for the store. */
enum status queue_notes_move(struct triage *triage, const struct audit_entry *entry, uint32_t from,
                             uint32_t to, struct bytes name, struct err *err);

#endif
