/* exporter: sends spans to an OpenTelemetry receiver, in batches over HTTP (port/spans.h).
 *
 *   record ──▶ waiting ──▶ in flight ──▶ accepted, or rejected for good
 *                ▲              │
 *                └──── retry ───┘
 *
 * Recording never waits: beyond EXPORTER_HELD_MAX spans further ones are dropped and counted, so
 * that a slow or unreachable receiver costs a bounded amount of memory and nothing else. One
 * request is in flight at a time. Spans are worth less than messages: those that are not accepted
 * within EXPORTER_STOP_MS after a stop are dropped as well. */
#ifndef TELEMETRY_EXPORTER_H
#define TELEMETRY_EXPORTER_H

#include "port/clock.h"
#include "port/handler.h"
#include "port/spans.h"
#include "telemetry/otlp.h"

enum {
    EXPORTER_HELD_MAX = 8192, /* spans in memory */
    EXPORTER_BATCH_MAX = 512, /* spans in one request */
    EXPORTER_DELAY_MS = 1000, /* longest wait of a span for others */
    EXPORTER_STOP_MS = 5000,  /* longest wait for the receiver when stopping */
};

struct exporter_options {
    struct handler *handler; /* posts to the receiver; must outlive the exporter */
    struct clock *clock;
    struct otlp_origin origin; /* texts must outlive the exporter */
    uint32_t sample_permille;
    uint64_t seed; /* of the jitter */
};

struct exporter;

struct exporter *exporter_new(const struct exporter_options *options);
struct spans *exporter_spans(struct exporter *exporter);
/* Runs one turn; returns when the next is due. Tests call it directly. */
struct mono exporter_turn(struct exporter *exporter, struct instant now);
/* Runs turns until exporter_stop, and until the rest was sent or dropped. */
void exporter_run(struct exporter *exporter);
void exporter_stop(struct exporter *exporter); /* any thread; nothing may be recorded any more */
bool exporter_is_over(const struct exporter *exporter); /* stopped, and nothing is in flight */
void exporter_free(struct exporter *exporter); /* after it is over, or if it never ran. NULL-safe */

#endif
