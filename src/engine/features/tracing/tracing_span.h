/* tracing_span: fills in and records the three spans of a message (docs/monitoring.md names their
 * attributes). Nothing is recorded for a trace that is not sampled. */
#ifndef ENGINE_TRACING_SPAN_H
#define ENGINE_TRACING_SPAN_H

#include "engine/features/tracing/tracing.h"

void tracing_span_process(const struct attempt *attempt); /* one attempt */
void tracing_span_settle(
    const struct attempt *attempt); /* from the judgement until the decision is durable */
void tracing_span_replay(const struct attempt *attempt); /* a round of a letter */

#endif
