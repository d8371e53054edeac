/* tracing: the trace that a message belongs to, and the spans that are recorded of it.
 *
 *   the producer's span ─┬─ process (attempt 1) ── settle (retry)
 *                        └─ process (attempt 2) ── settle (dlq) ◀─┐
 *                                                                 │ link
 *   replay ── process (attempt 1) ── settle (ok)                  │
 *      └──────────────────────────────────────────────────────────┘
 *
 * The first round continues the trace that the message's traceparent names, or begins one. A replay
 * begins a new trace, with links to the message's origin and to the end of the round before,
 * because events days later do not belong into the old trace. Each attempt at a compensation does
 * the same. No ids are stored: ids that are needed again by a later attempt, or after a restart,
 * are derived from the message's id.
 *
 * While tracing is off (engine_options.spans is NULL) each of these functions checks one pointer.
 */
#ifndef ENGINE_TRACING_H
#define ENGINE_TRACING_H

#include "base/log.h"
#include "engine/state.h"

/* The trace of one attempt, in its message's arena. */
struct tracing {
    struct traceparent own;             /* the trace, this attempt's span, the flags */
    unsigned char parent[SPAN_ID_SIZE]; /* the parent of the attempt's span; zeroes: none */
    struct traceparent origin;          /* the traceparent that came with the message … */
    struct bytes origin_state;          /* … its tracestate … */
    bool came;                          /* … if the message had one */
    bool begins;                        /* the attempt begins a new trace */
    bool attempted;                     /* `own` is a span of ours */
    bool compensates;
    uint32_t attempt;
    bool judged;
    enum attempt_result result;
    struct instant judged_at;
    const struct rule_header *headers;
    size_t header_count;
};

/* The message is handed over; for a leased message, after its lease is granted. */
void tracing_begin(struct attempt *attempt);
/* The headers for the handler: our span replaces the one that came with the message. */
void tracing_headers(const struct attempt *attempt, const struct rule_header **headers,
                     size_t *count);
/* The decision is in the envelope. */
void tracing_judged(struct attempt *attempt, enum attempt_result result);
/* The decision is durable. */
void tracing_settled(struct attempt *attempt);

/* The id of the span that ended a round of a letter, and of a replay's span. */
void tracing_end_of_round(const struct attempt *attempt, uint32_t round, struct traceparent *out);
void tracing_replay_span(const struct envelope *envelope, unsigned char out[SPAN_ID_SIZE]);
/* The same input gives the same id, also after a restart. */
void tracing_derive(unsigned char *out, size_t size, const char *what, struct bytes id,
                    int64_t number);
void tracing_trace_of_round(const struct attempt *attempt, uint32_t round,
                            unsigned char out[TRACE_ID_SIZE]);
void tracing_random_span(struct engine *engine, unsigned char out[SPAN_ID_SIZE]);

/* For a log line, whether tracing is on or off; borrows from the attempt. */
struct log_about attempt_about(const struct attempt *attempt);

#endif
