/* retry_after: when to come back, in the words of a server that refuses for a while. Pure. Each
 * function gives milliseconds from now, or -1: the server does not say. What is longer than can be
 * counted is INT64_MAX. */
#ifndef HANDLER_RETRY_AFTER_H
#define HANDLER_RETRY_AFTER_H

#include "base/instant.h"
#include "core/rule.h"

/* Retry-After (seconds, with a fraction too, or a date) and the finer retry-after-ms and
 * x-ms-retry-after-ms, which win over it. */
int64_t retry_after_headers(const struct rule_header *headers, size_t count, struct wall now);
/* x-ratelimit-reset-*, anthropic-ratelimit-*-reset and their like: seconds, durations such as 6m0s
 * and 1.2s, Unix times, dates. Of several, the one whose limit is exhausted (its *-remaining-* is
 * 0); else those whose rest is not given; the latest of them. */
int64_t retry_after_resets(const struct rule_header *headers, size_t count, struct wall now);
/* "Please try again in 1m2.5s.", "retry after 26 seconds" */
int64_t retry_after_text(struct bytes message);
/* "34.07s", "6m0s", "20ms": all of the text; false when it is none. Parts of a millisecond count as
 * one. */
bool retry_after_duration(struct bytes text, int64_t *ms);

#endif
