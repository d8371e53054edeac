/* problem: a refusal as an RFC 9457 document. */
#ifndef SERVER_PROBLEM_H
#define SERVER_PROBLEM_H

#include "base/buf.h"
#include "base/status.h"

#define PROBLEM_TYPE "application/problem+json"

/* `instance`: the path that was asked for; empty: unknown. `line`: of the NDJSON; 0: none. */
void problem_put(struct buf *out, enum status status, struct bytes detail, struct bytes instance,
                 size_t line);

#endif
