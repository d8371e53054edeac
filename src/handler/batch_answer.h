/* batch_answer: which items of a batch failed, as its handler says (SEMANTICS §7). Pure. */
#ifndef HANDLER_BATCH_ANSWER_H
#define HANDLER_BATCH_ANSWER_H

#include "base/arena.h"
#include "base/json.h"
#include "handler/task.h"

/* Reads {"batchItemFailures":[{"itemIdentifier":"<id>", …}]}: `items` gets one outcome for each
 * call, OK for those that are not listed. A listed item may say more (fault.h); one that does not
 * fails as OUTCOME_BATCH_ITEM. False when the list cannot be trusted: an identifier is empty, is
 * no text, or is of no item. Texts are borrowed from the answer and the arena (heap). */
bool batch_answer_read(struct json answer, struct task task, struct arena *arena,
                       struct outcome *items);
/* The same for a text that may be anything: what is no JSON object lists nothing. */
bool batch_answer_parse(struct bytes text, struct task task, struct arena *arena,
                        struct outcome *items);
/* A whole batch whose list of failures cannot be trusted: all of it is tried again. */
void batch_answer_distrust(struct outcome *out);

#endif
