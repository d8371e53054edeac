/* tracing: where a message belongs in a trace, and what of its life becomes a span.
 *
 *   the producer's span ─┬─ process (attempt 1) ── settle (retry)
 *                        └─ process (attempt 2) ── settle (dlq) ◀─┐
 *                                                                 │ link
 *   replay ── process (attempt 1) ── settle (ok)                  │
 *      └──────────────────────────────────────────────────────────┘
 *
 * The first round goes on with the trace that the message's traceparent names, or begins one. A
 * replay begins a trace of its own, with links to where the message came from and to where the
 * round before ended: what happens days later is no part of the old trace. Each attempt at a
 * compensation does the same. Nothing is stored for any of it: ids that a later attempt, or a later
 * life of ours, needs again are derived from the message's.
 *
 * While nobody traces (engine_options.spans is NULL) each of these looks at one pointer. */
#ifndef ENGINE_TRACING_H
#define ENGINE_TRACING_H

#include "base/log.h"
#include "engine/state.h"

/* Of one attempt, in its message's arena. */
struct tracing {
    struct traceparent own;             /* the trace, this attempt's span, the flags */
    unsigned char parent[SPAN_ID_SIZE]; /* what the attempt's span is below; zeroes: nothing */
    struct traceparent origin;          /* that came with the message … */
    struct bytes origin_state;          /* … its tracestate … */
    bool came;                          /* … if it came with one */
    bool begins;                        /* another trace than the one it came with */
    bool attempted;                     /* `own` is a span of ours */
    bool compensates;
    uint32_t attempt;
    bool judged;
    enum attempt_result result;
    struct instant judged_at;
    const struct rule_header *headers;
    size_t header_count;
};

/* It is handed over; a worker's message after it got its lease. */
void tracing_begin(struct attempt *attempt);
/* Its headers as its handler is to see them: our span stands in place of the one that came. */
void tracing_headers(const struct attempt *attempt, const struct rule_header **headers,
                     size_t *count);
/* What is to become of it stands in its envelope. */
void tracing_judged(struct attempt *attempt, enum attempt_result result);
/* And is durable. */
void tracing_settled(struct attempt *attempt);

/* The span that ended a round of a letter, and the one that a replay is. */
void tracing_end_of_round(const struct attempt *attempt, uint32_t round, struct traceparent *out);
void tracing_replay_span(const struct envelope *envelope, unsigned char out[SPAN_ID_SIZE]);
/* The same for the same words, after a restart too. */
void tracing_derive(unsigned char *out, size_t size, const char *what, struct bytes id,
                    int64_t number);
void tracing_trace_of_round(const struct attempt *attempt, uint32_t round,
                            unsigned char out[TRACE_ID_SIZE]);
void tracing_random_span(struct engine *engine, unsigned char out[SPAN_ID_SIZE]);

/* For a line of the log, whether anybody traces or not; borrows from the attempt. */
struct log_about attempt_about(const struct attempt *attempt);

#endif
