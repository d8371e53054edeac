/* tracing_span: the three spans of a message, filled in and recorded (docs/monitoring.md names
 * their attributes). Of a trace that nobody records nothing is. */
#ifndef ENGINE_TRACING_SPAN_H
#define ENGINE_TRACING_SPAN_H

#include "engine/features/tracing.h"

void tracing_span_process(const struct attempt *attempt); /* one attempt */
void tracing_span_settle(
    const struct attempt *attempt); /* from the judgement until it is durable */
void tracing_span_replay(const struct attempt *attempt); /* a round of a letter */

#endif
