/* trace_at: traces of "at …" lines, newest frame first, under a headline: Java's and Node's. */
#ifndef CORE_TRACE_TRACE_AT_H
#define CORE_TRACE_TRACE_AT_H

#include "core/trace/trace_language.h"

struct trace_at {
    bool (*frame)(struct bytes line, struct trace_frame *out);
    const struct bytes *causes; /* each introduces the cause of the exception above it */
    size_t cause_count;
    bool cause_indented;          /* else an indented one belongs to a suppressed exception */
    const struct bytes *openings; /* may precede a headline */
    size_t opening_count;
};

/* The innermost cause gives type and message, since it names what really went wrong; its frames
 * come first, those of the exceptions around it behind them. */
bool trace_at_find(const struct trace_at *language, struct bytes text, struct trace *out);

#endif
