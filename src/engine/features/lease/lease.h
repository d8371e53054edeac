/* lease: one message that a worker holds for a limited time (SEMANTICS §6). Private to the engine.
 *
 *   GRANTING ──durable──▶ ALIVE ──ack, fail, or it expires──▶ ENDED: judged and recorded as any
 *                         │   ▲                                      other outcome is
 *                         ▼   │ durable
 *                       EXTENDING (only if the store has a shorter time)
 *
 * A worker names its lease by 32 hex digits: the message's number and a secret that is new with
 * every lease. The secret and the lease's duration are in the envelope, so a lease survives a
 * restart, and a late answer can be told from an answer to a superseded lease. */
#ifndef ENGINE_LEASE_H
#define ENGINE_LEASE_H

#include "engine/features/lease/lease_answer.h"
#include "engine/state.h"

enum lease_stage { LEASE_GRANTING, LEASE_ALIVE, LEASE_EXTENDING, LEASE_ENDED };

struct lease {
    struct attempt *attempt;
    enum lease_stage stage;
    struct map_node by_message; /* in engine->leases */
    struct heap_node deadline;  /* in engine->lease_deadlines, while ALIVE or EXTENDING */
    struct lease_poll *poll;    /* GRANTING: the worker's request that gets the lease */
    /* … and its link in that request's list, until the request is answered */
    struct list in_poll;
    int64_t stored_ms;          /* EXTENDING: the duration that is durable */
    struct lease_answer answer; /* the request that waits for this lease's commit */
    /* An ack or fail that arrived while EXTENDING, or after the lease expired. */
    struct lease_answer parked;
};

void lease_text(uint64_t message, uint64_t secret, char out[ENGINE_LEASE_TEXT_SIZE]);
bool lease_parse(struct bytes text, uint64_t *message, uint64_t *secret);

/* State GRANTING. Writes the secret and the duration into the envelope, which joins this turn's
 * commit. */
struct lease *lease_grant(struct attempt *attempt, struct lease_poll *poll, int64_t lease_ms);
/* State ENDED at once: for the answer to a lease that has expired. */
struct lease *lease_late(struct attempt *attempt);
/* NULL: the message is not leased. */
struct lease *lease_find(const struct engine *engine, uint64_t message);
/* Ends a live lease without an outcome; a later answer to it is a CONFLICT. */
void lease_revoke(struct lease *lease);
bool lease_is_alive(const struct lease *lease); /* false for NULL */
/* The lease runs for lease_ms from now. True: the store has a shorter time, so the lease is
 * EXTENDING until a commit. */
bool lease_extend(struct lease *lease, int64_t lease_ms);
/* ALIVE → ENDED: the worker's outcome, or the expiry, is judged. */
void lease_end(struct lease *lease, const struct outcome *outcome);
void lease_free(struct lease *lease);

/* The attempt's commit is durable. True: the lease goes on and its worker keeps the message. */
bool lease_settle(struct attempt *attempt);
/* The attempt's commit has failed: a worker gets no lease that is not durable. False: the attempt
 * has no live lease. */
bool lease_refuse(struct attempt *attempt, enum status status, const struct err *err);

void lease_ring(struct engine *engine); /* ends the leases that have expired */
struct mono lease_next(const struct engine *engine);
/* After a restart, leases that were alive run their full duration again. */
void lease_recover(struct queue *queue);

#endif
