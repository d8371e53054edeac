/* otlp: the bytes of an OTLP request, and its answer (otlp.proto). */
#ifndef TELEMETRY_OTLP_H
#define TELEMETRY_OTLP_H

#include "base/buf.h"
#include "port/spans.h"

#define OTLP_CONTENT_TYPE "application/x-protobuf"

/* The resource that sends the spans; once in each request. */
struct otlp_origin {
    struct bytes service;  /* service.name */
    struct bytes version;  /* … .version, and the scope's */
    struct bytes instance; /* … .instance.id */
};

/* Appends the body of POST /v1/traces. Invalid UTF-8, which the format forbids, is replaced. */
void otlp_put_request(const struct otlp_origin *origin, const struct span *const *spans,
                      size_t count, struct buf *out);

enum { OTLP_ANSWER_TEXT_MAX = 256 };

/* The receiver's answer to an accepted request. */
struct otlp_answer {
    uint64_t rejected; /* spans */
    char text[OTLP_ANSWER_TEXT_MAX];
};

/* Reads the body of a 200. An unreadable answer rejects nothing. */
void otlp_read_answer(struct bytes body, struct otlp_answer *out);

#endif
