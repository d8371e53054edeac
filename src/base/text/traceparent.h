/* traceparent: the position in a trace (W3C Trace Context).
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace id, id of the parent span, flags; lower-case hex */
#ifndef BASE_TEXT_TRACEPARENT_H
#define BASE_TEXT_TRACEPARENT_H

#include "base/bytes.h"

enum {
    TRACE_ID_SIZE = 16,
    SPAN_ID_SIZE = 8,
    TRACEPARENT_TEXT_SIZE = 56, /* with its NUL */
    TRACEPARENT_SAMPLED = 1,    /* flag: the caller records this trace */
};

struct traceparent {
    unsigned char trace_id[TRACE_ID_SIZE];
    unsigned char span_id[SPAN_ID_SIZE];
    uint8_t flags;
};

/* False, and *out is zero: invalid, or an id of zeroes. Of a later version the known part is read.
 */
bool traceparent_parse(struct bytes text, struct traceparent *out);
/* Of version 00. */
const char *traceparent_text(const struct traceparent *from, char out[TRACEPARENT_TEXT_SIZE]);

/* An id as hex; `out` has room for 2 × size + 1. */
const char *traceparent_hex(const unsigned char *id, size_t size, char *out);

#endif
