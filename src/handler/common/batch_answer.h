/* batch_answer: which items of a batch failed, from its handler's answer (SEMANTICS §7). Pure. */
#ifndef HANDLER_COMMON_BATCH_ANSWER_H
#define HANDLER_COMMON_BATCH_ANSWER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "handler/common/task.h"

/* Reads {"batchItemFailures":[{"itemIdentifier":"<id>", …}]}: `items` gets one outcome for each
 * call, OK for those not listed. A listed item may have details (fault.h); without them it fails as
 * OUTCOME_BATCH_ITEM. False: the list cannot be trusted, because an identifier is empty, is not a
 * string, or matches no item. Texts are borrowed from the answer and the arena (heap). */
bool batch_answer_read(struct json answer, struct task task, struct arena *arena,
                       struct outcome *items);
/* The same for an arbitrary text; one that is not a JSON object lists nothing. */
bool batch_answer_parse(struct bytes text, struct task task, struct arena *arena,
                        struct outcome *items);
/* The outcome of a batch whose list cannot be trusted: the whole batch is retried. */
void batch_answer_distrust(struct outcome *out);

#endif
