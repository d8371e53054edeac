/* lease: one message in a worker's hands, for a time (SEMANTICS §6). The engine's own.
 *
 *   GRANTING ──durable──▶ ALIVE ──ack, fail, or its time is over──▶ ENDED: judged and recorded as
 *                         │   ▲                                            any outcome is
 *                         ▼   │ durable
 *                       EXTENDING (only for longer than the store knows)
 *
 * A worker knows its lease as 32 hex digits: the message's number and a secret that is new with
 * every lease. The secret and how long it runs stand in the envelope, so that a lease outlives us,
 * and a late answer is known from one that another lease has overtaken. */
#ifndef ENGINE_LEASE_H
#define ENGINE_LEASE_H

#include "engine/features/lease_answer.h"
#include "engine/state.h"

enum lease_stage { LEASE_GRANTING, LEASE_ALIVE, LEASE_EXTENDING, LEASE_ENDED };

struct lease {
    struct attempt *attempt;
    enum lease_stage stage;
    struct map_node by_message; /* in engine->leases */
    struct heap_node deadline;  /* in engine->lease_deadlines, while ALIVE or EXTENDING */
    struct lease_poll *poll;    /* GRANTING: whom it is for */
    struct list in_poll;        /* … and in that one's list, until it is answered */
    int64_t stored_ms;          /* EXTENDING: as long as the store knows */
    struct lease_answer answer; /* who waits for the commit that this lease is in */
    struct lease_answer parked; /* an ack or fail that came while EXTENDING, or after it expired */
};

void lease_text(uint64_t message, uint64_t secret, char out[ENGINE_LEASE_TEXT_SIZE]);
bool lease_parse(struct bytes text, uint64_t *message, uint64_t *secret);

/* GRANTING. The envelope gets its secret and its time, and joins this turn's commit. */
struct lease *lease_grant(struct attempt *attempt, struct lease_poll *poll, int64_t lease_ms);
/* ENDED already: the answer to a lease that has expired. */
struct lease *lease_late(struct attempt *attempt);
/* NULL: that message is not leased. */
struct lease *lease_find(const struct engine *engine, uint64_t message);
/* Ends a lease that is alive without an outcome; an answer to it is a CONFLICT from now on. */
void lease_revoke(struct lease *lease);
bool lease_is_alive(const struct lease *lease); /* NULL: no */
/* It runs for so long from now on. When the store knows a shorter time, EXTENDING: true. */
bool lease_extend(struct lease *lease, int64_t lease_ms);
/* ALIVE → ENDED: what the worker said, or that it said nothing, is judged. */
void lease_end(struct lease *lease, const struct outcome *outcome);
void lease_free(struct lease *lease);

/* The commit that the attempt is in is durable. True: it lives on, in its worker's hands. */
bool lease_settle(struct attempt *attempt);
/* … has failed: what is not durable is not a worker's. False: it is no lease that lives. */
bool lease_refuse(struct attempt *attempt, enum status status, const struct err *err);

void lease_ring(struct engine *engine); /* ends those whose time is over */
struct mono lease_next(const struct engine *engine);
/* Those that were alive when we last died run their full time again. */
void lease_recover(struct queue *queue);

#endif
