/* stream_line: the request and answer lines of a stream worker (docs/stream.md). Pure.
 *
 *   to the worker    {"id","queue",…,"body"}              one message (item.h)
 *                    {"batch":7,"messages":[{…},{…}]}     several
 *   its answer       {"id","ok":true,"result":…}          result may be left out
 *                    {"id","ok":false,"error_type",…}     fault.h
 *                    {"batch":7,"ok":true,"batchItemFailures":[…]}, or "ok":false for all of it */
#ifndef HANDLER_STREAM_STREAM_LINE_H
#define HANDLER_STREAM_STREAM_LINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "handler/common/task.h"

enum { STREAM_ANSWER_MAX = 4 << 20 }; /* bytes of an answer line */

/* With the line break; `batch` is the number of a group. */
void stream_line_put(struct task task, uint64_t batch, struct buf *out);
/* Reads the answer to that line. Returns NULL, or the error. `items` has room for each of the
 * task's calls and is filled if the task is a group and `whole` is OK. Texts are borrowed from the
 * line and the arena (heap). */
const char *stream_line_read(struct bytes line, struct task task, uint64_t batch,
                             struct arena *arena, struct outcome *whole, struct outcome *items);

#endif
