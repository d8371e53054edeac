/* problem_json: a refusal as an RFC 9457 document. */
#ifndef SERVER_PROBLEM_JSON_H
#define SERVER_PROBLEM_JSON_H

#include "base/json/json.h"

#define PROBLEM_JSON_TYPE "application/problem+json"

/* Opens the document and writes its members up to `line`; the caller may add some and closes it.
 * `instance`: the request's path; empty: unknown. `line`: the line of the NDJSON; 0: none. */
void problem_json_open(struct json_out *json, enum status status, struct bytes detail,
                       struct bytes instance, size_t line);
/* Writes the whole document. */
void problem_json_put(struct buf *out, enum status status, struct bytes detail,
                      struct bytes instance, size_t line);

#endif
