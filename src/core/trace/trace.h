/* trace: parses the stack traces that Python, Java, Node, Go and Ruby print when a program dies.
 * Pure. */
#ifndef CORE_TRACE_TRACE_H
#define CORE_TRACE_TRACE_H

#include "base/bytes.h"
#include "core/outcome.h"

enum { TRACE_FRAMES_MAX = 64 };

struct trace_frame {
    struct bytes function;
    struct bytes file;
    bool in_app; /* not the language's own library, not an installed package */
};

struct trace {
    struct bytes error_type;    /* "KeyError", "java.lang.IllegalStateException", "panic" */
    struct bytes error_message; /* first line of it, without the type */
    struct bytes text;          /* the part of the input that is the trace */
    struct trace_frame frames[TRACE_FRAMES_MAX]; /* innermost first, the newest TRACE_FRAMES_MAX */
    size_t frame_count;
};

/* The last trace in `text`; false: none is recognised. All slices of `text`.
 *
 * Of chained exceptions, Java, Node and Ruby name the innermost cause ("Caused by", "[cause]"),
 * since its class is the useful one; Python names the one that was raised last, which is the one
 * that its programs choose and print at the end. */
bool trace_find(struct bytes text, struct trace *out);
/* The part of a trace that fits OUTCOME_STACK_FRAMES_MAX frames and OUTCOME_STACK_MAX bytes: the
 * line with type and message and the newest frames, in whole lines. Other text keeps its last
 * lines. */
struct bytes trace_tail(struct bytes text);

#endif
