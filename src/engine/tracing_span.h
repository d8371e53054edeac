/* tracing_span: the three spans of a message, filled in and recorded (docs/monitoring.md names
 * their attributes). Of a trace that nobody records nothing is. */
#ifndef ENGINE_TRACING_SPAN_H
#define ENGINE_TRACING_SPAN_H

#include "engine/tracing.h"

void tracing_span_process(const struct flight *flight); /* one attempt */
void tracing_span_settle(const struct flight *flight);  /* from the judgement until it is durable */
void tracing_span_replay(const struct flight *flight);  /* a round of a letter */

#endif
