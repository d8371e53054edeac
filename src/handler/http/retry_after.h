/* retry_after: reads the retry delay from a server's answer. Pure. Each function returns
 * milliseconds from now, or -1: not given. A delay beyond int64_t is INT64_MAX. */
#ifndef HANDLER_HTTP_RETRY_AFTER_H
#define HANDLER_HTTP_RETRY_AFTER_H

#include "base/instant.h"
#include "core/rule.h"

/* Retry-After (seconds, also with a fraction, or a date), and retry-after-ms and
 * x-ms-retry-after-ms, which take precedence. */
int64_t retry_after_headers(const struct rule_header *headers, size_t count, struct wall now);
/* x-ratelimit-reset-*, anthropic-ratelimit-*-reset and similar: seconds, durations such as 6m0s and
 * 1.2s, Unix times, dates. Of several, those whose limit is exhausted (*-remaining-* is 0),
 * otherwise those without a remaining value; of these the latest. */
int64_t retry_after_resets(const struct rule_header *headers, size_t count, struct wall now);
/* "Please try again in 1m2.5s.", "retry after 26 seconds" */
int64_t retry_after_text(struct bytes message);
/* "34.07s", "6m0s", "20ms": the whole text; false: not a duration. Rounded up to milliseconds. */
bool retry_after_duration(struct bytes text, int64_t *ms);

#endif
