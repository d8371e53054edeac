/* convention: how other systems write down that a message died, and what that means in an envelope.
 * One row of a table a convention, with what it is known by and where each fact stands. Pure.
 *
 * A broker gives a dead letter as it gives any message; convention_read makes of it the letter that
 * it would have been here. What no convention knows is a letter, too: `plain`. */
#ifndef TRIAGE_CONVENTION_H
#define TRIAGE_CONVENTION_H

#include "port/broker_kind.h"

struct convention;

/* The first that knows it; never NULL. */
const struct convention *convention_find(const struct message *held);
const char *convention_name(const struct convention *convention); /* "spring-kafka" */
/* Whether it is as our own mirror publishes letters, and nothing says that it died there, too. */
bool convention_is_mirror(const struct message *held);
/* The one by which a letter with this context was adopted; NULL: none. */
const struct convention *convention_of(struct bytes context);
/* Whether it is known by that header or reads it, and the message had none such of its own. */
bool convention_adds(const struct convention *convention, struct bytes header);

/* Rewrites what the broker gave; new texts are in held->arena. `brokers` are those
 * that a source may name. `entry` is the name of the adopt
 * entry that it came by; `now` is when it died where nothing says when. Afterwards:
 *   state, cause      pending_review, adopted; resolved or discarded where its system says so
 *   reason, category  of the other system, or derived from the error's type; else unknown
 *   failure           type (the cause's where one wraps another), message, trace, fingerprint
 *   attempts, max_attempts, first_failure_at, last_failure_at, dead_at, created_at
 *                     where the convention has them; created_at is never later than the others,
 *                     nor than `now`
 *   next_attempt_at   when its system would have retried it, where it had set that; else never
 *   queue             the name of the origin, else `entry`
 *   source            the origin's coordinates, as a sink takes them in sink_item.origin; "kind"
 *                     alone where nothing names the origin
 *   id                the message's own where the convention has one; else as it was
 *   body, key, headers, content_type, size
 *                     the original's, byte for byte. Headers that were added stay (strip.h)
 *   task, consumer    where the convention has them
 *   context           {"adopted":{"convention":…,"from":entry,"at":{the source as it was}},…}
 *   why               of a pointer whose message was gone: that it was
 * It leaves letter_id, dlq, owner and content_hash to the caller. */
void convention_read(const struct convention *convention, const struct broker_kind *const *brokers,
                     struct bytes entry, struct wall now, struct message *held);

#endif
