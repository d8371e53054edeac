/* exporter: spans to an OpenTelemetry receiver, in batches over HTTP (port/spans.h).
 *
 *   record ──▶ waiting ──▶ under way ──▶ taken, or refused for good
 *                ▲              │
 *                └─ again later ┘
 *
 * Whoever records never waits: beyond EXPORTER_HELD_MAX spans further ones are dropped and counted,
 * so that a receiver that is slow or gone costs memory up to a limit and nothing else. One request
 * is under way at a time. Spans are worth less than messages: what is left when the exporter stops,
 * and is not taken within EXPORTER_STOP_MS, is dropped as well. */
#ifndef TELEMETRY_EXPORTER_H
#define TELEMETRY_EXPORTER_H

#include "port/clock.h"
#include "port/handler.h"
#include "port/spans.h"
#include "telemetry/otlp.h"

enum {
    EXPORTER_HELD_MAX = 8192, /* spans in memory */
    EXPORTER_BATCH_MAX = 512, /* spans in one request */
    EXPORTER_DELAY_MS = 1000, /* that a span waits for others, at most */
    EXPORTER_STOP_MS = 5000,  /* that stopping waits for the receiver, at most */
};

struct exporter_options {
    struct handler *handler; /* that posts to the receiver; outlives the exporter */
    struct clock *clock;
    struct otlp_origin origin; /* texts outlive the exporter */
    uint32_t sample_permille;
    uint64_t seed; /* of jitter */
};

struct exporter;

struct exporter *exporter_new(const struct exporter_options *options);
struct spans *exporter_spans(struct exporter *exporter);
/* One turn, for whoever steps the clock by hand; returns when the next is wanted. */
struct mono exporter_turn(struct exporter *exporter, struct instant now);
/* Turns until exporter_stop, and until what is left was sent or given up. */
void exporter_run(struct exporter *exporter);
void exporter_stop(struct exporter *exporter); /* from any thread; nothing is recorded any more */
bool exporter_is_over(const struct exporter *exporter); /* stopped, and nothing is under way */
void exporter_free(struct exporter *exporter);          /* it is over, or never ran. NULL-safe */

#endif
