/* failure: the members of a failed attempt that a worker or a task runner reports, read from JSON.
 * For the setters of member.h; null is the same as absent. Pure. */
#ifndef SERVER_FAILURE_H
#define SERVER_FAILURE_H

#include "base/instant.h"
#include "base/json/json.h"
#include "core/outcome.h"

enum { FAILURE_STATUS_MIN = 100, FAILURE_STATUS_MAX = 599 };
#define FAILURE_RETRY_AFTER_MAX_MS (INT64_C(365) * 24 * 3600 * 1000)

/* Free text of any length (core clips it). */
enum status failure_text(struct json value, struct arena *arena, struct bytes *out,
                         struct err *err);
enum status failure_number(struct json value, int64_t min, int64_t max, int64_t *out,
                           struct err *err);
enum status failure_status(struct json value, struct outcome *outcome, struct err *err);
/* The forms of the HTTP header, seconds or a date, and also a duration ("5m"). At most
 * FAILURE_RETRY_AFTER_MAX_MS. */
enum status failure_retry_after(struct json value, struct wall now, struct arena *arena,
                                struct outcome *outcome, struct err *err);
enum status failure_verdict(struct json value, struct arena *arena, struct outcome *outcome,
                            struct err *err);

#endif
