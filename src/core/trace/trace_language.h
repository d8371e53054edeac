/* trace_language: the interface between trace.c and one language. Each language is one file. */
#ifndef CORE_TRACE_TRACE_LANGUAGE_H
#define CORE_TRACE_TRACE_LANGUAGE_H

#include "core/trace/trace.h"

struct trace_language {
    /* The last trace of this language in `text`, found in one pass. */
    bool (*find)(struct bytes text, struct trace *out);
    /* Whether the line counts as a frame; fills in the facts of that line. */
    bool (*frame)(struct bytes line, struct trace_frame *out);
};

extern const struct trace_language trace_python, trace_java, trace_node, trace_go, trace_ruby;

/* Puts a frame before the one at `at`; of a full trace the last frame (the outermost) is dropped.
 */
void trace_insert(struct trace *trace, size_t at, struct trace_frame frame);
/* The trace goes from the line `first` to the end of the line `last`, both slices of one text. */
void trace_span(struct trace *trace, struct bytes first, struct bytes last);
/* "Type: message" or "Type" at the front of a line, where Type is a dotted name; also
 * "Type [CODE]: message". */
bool trace_headline(struct bytes line, struct bytes *type, struct bytes *message);
/* Any of the marks stands in the text. */
bool trace_mentions(struct bytes text, const struct bytes *marks, size_t count);
struct bytes trace_indent(struct bytes line); /* its leading spaces and tabs */

#endif
