/* convention: the formats in which other systems and frameworks write dead letters, and their
 * meaning in an envelope. Each convention is a row of a table: how it is recognised, and where each
 * fact is. Pure.
 *
 * A broker delivers a dead letter like any message; convention_read turns it into the letter that
 * impound would have written. A message that no convention matches is a letter, too: `plain`. */
#ifndef TRIAGE_CONVENTION_H
#define TRIAGE_CONVENTION_H

#include "port/broker_kind.h"

struct convention;

/* The first convention that matches; never NULL. */
const struct convention *convention_find(const struct message *held);
const char *convention_name(const struct convention *convention); /* "spring-kafka" */
/* Whether it matches the format of our own mirror, and no other convention: nothing says that it
 * died again where it was published. */
bool convention_is_mirror(const struct message *held);
/* The convention by which a letter with this context was adopted; NULL: none. */
const struct convention *convention_of(struct bytes context);
/* Whether the convention matches on that header or reads it, and the header was added by the other
 * system. */
bool convention_adds(const struct convention *convention, struct bytes header);

/* Rewrites a message as its broker delivered it; new texts are in held->arena. `brokers` are those
 * that a source may name; `entry` is the name of the adopt entry; `now` is its time of death where
 * no fact gives one. Afterwards:
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
 *                     the original's, byte for byte. Headers that were added stay (scrub_headers.h)
 *   task, consumer    where the convention has them
 *   context           {"adopted":{"convention":…,"from":entry,"at":{the source as it was}},…}
 *   why               of a pointer: that its message was gone or may have been replaced
 * It leaves letter_id, dlq, owner and content_hash to the caller. */
void convention_read(const struct convention *convention, const struct broker_kind *const *brokers,
                     struct bytes entry, struct wall now, struct message *held);

#endif
