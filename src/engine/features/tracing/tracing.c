#include "engine/features/tracing/tracing.h"

#include <sodium.h>
#include <string.h>

#include "engine/features/tracing/tracing_span.h"
#include "engine/feature.h"

/* ---- context ---- */

static struct bytes header_of(const struct envelope *envelope, struct bytes name) {
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_eq_nocase(envelope->headers[i].name, name))
            return envelope->headers[i].value;
    return BYTES_NONE;
}

#define TRACEPARENT BYTES("traceparent")
#define TRACESTATE  BYTES("tracestate")

/* Like OpenTelemetry's ratio samplers, so that all of them sample the same traces. */
static bool is_chosen(const struct spans *spans, const unsigned char trace_id[TRACE_ID_SIZE]) {
    enum { PERMILLE = 1000 };
    uint64_t number = 0;
    for (size_t i = TRACE_ID_SIZE / 2; i < TRACE_ID_SIZE; i++)
        number = number << 8 | trace_id[i];
    return spans->sample_permille >= PERMILLE ||
           number >> 1 < (UINT64_C(1) << 63) / PERMILLE * spans->sample_permille;
}

static void find_place(struct attempt *attempt, struct tracing *tracing) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct engine *engine = attempt->queue->engine;
    tracing->compensates = envelope->compensating > 0;
    tracing->begins = tracing->compensates || envelope->replays > 0;
    if (tracing->compensates) { /* no later span refers to it */
        tracing_random_span(engine, tracing->own.trace_id);
        tracing_random_span(engine, tracing->own.trace_id + SPAN_ID_SIZE);
        return;
    }
    tracing_trace_of_round(attempt, envelope->replays, tracing->own.trace_id);
    if (envelope->replays > 0)
        tracing_replay_span(envelope, tracing->parent);
    else if (tracing->came)
        memcpy(tracing->parent, tracing->origin.span_id, SPAN_ID_SIZE);
}

static struct tracing *context_of(struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    const struct spans *spans = attempt->queue->engine->options.spans;
    if (attempt->tracing)
        return attempt->tracing;
    struct tracing *tracing = arena_alloc(&attempt->held->arena, sizeof *tracing);
    attempt->tracing = tracing;
    attempt->trace = &tracing->own;
    tracing->came = traceparent_parse(header_of(envelope, TRACEPARENT), &tracing->origin);
    if (tracing->came)
        tracing->origin_state = header_of(envelope, TRACESTATE);
    find_place(attempt, tracing);
    if (tracing->came)
        tracing->own.flags = tracing->origin.flags;
    else if (is_chosen(spans, tracing->own.trace_id))
        tracing->own.flags = TRACEPARENT_SAMPLED;
    if (tracing->begins)
        tracing->own.flags &= TRACEPARENT_SAMPLED;
    memcpy(tracing->own.span_id, tracing->parent, SPAN_ID_SIZE);
    return tracing;
}

static void make_headers(struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct tracing *tracing = attempt->tracing;
    struct arena *arena = &attempt->held->arena;
    struct rule_header *headers =
        arena_alloc(arena, (envelope->header_count + 2) * sizeof *headers);
    char text[TRACEPARENT_TEXT_SIZE];
    size_t count = 0;
    headers[count++] = (struct rule_header){
        TRACEPARENT, arena_dup(arena, bytes_of(traceparent_text(&tracing->own, text)))};
    if (tracing->origin_state.len && !tracing->begins)
        headers[count++] = (struct rule_header){TRACESTATE, tracing->origin_state};
    for (size_t i = 0; i < envelope->header_count; i++) {
        struct bytes name = envelope->headers[i].name;
        if (!bytes_eq_nocase(name, TRACEPARENT) && !bytes_eq_nocase(name, TRACESTATE))
            headers[count++] = envelope->headers[i];
    }
    tracing->headers = headers;
    tracing->header_count = count;
}

/* A lease survives a restart, and so must its span's id; the lease's secret cannot be derived from
 * the id. */
void tracing_begin(struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    const struct envelope *envelope = &attempt->held->envelope;
    if (!engine->options.spans)
        return;
    struct tracing *tracing = context_of(attempt);
    tracing->attempted = true;
    tracing->attempt = envelope_tries(envelope) + 1;
    if (queue_leases(attempt->queue))
        tracing_derive(tracing->own.span_id, SPAN_ID_SIZE, "lease", envelope->id,
                       (int64_t)envelope->lease);
    else
        tracing_random_span(engine, tracing->own.span_id);
    make_headers(attempt);
}

void tracing_headers(const struct attempt *attempt, const struct rule_header **headers,
                     size_t *count) {
    const struct envelope *envelope = &attempt->held->envelope;
    bool ours = attempt->tracing != NULL;
    *headers = ours ? attempt->tracing->headers : envelope->headers;
    *count = ours ? attempt->tracing->header_count : envelope->header_count;
}

/* ---- recording ---- */

void tracing_judged(struct attempt *attempt, enum attempt_result result) {
    if (!attempt->queue->engine->options.spans)
        return;
    struct tracing *tracing = context_of(attempt);
    tracing->judged = true;
    tracing->result = result;
    tracing->judged_at = attempt->queue->engine->now;
    if (tracing->attempted)
        tracing_span_process(attempt);
}

/* The attempt is over: for good, until its retry, or until a person acts on the letter. */
static bool is_settled(enum attempt_result result) {
    return result == RESULT_OK || result == RESULT_RETRY || result == RESULT_DLQ ||
           result == RESULT_DISCARD || result == RESULT_DUPLICATE;
}

static bool ends_replay(const struct attempt *attempt) {
    enum state state = attempt->held->envelope.state;
    return attempt->held->envelope.replays > 0 && attempt->purpose != PURPOSE_LATE_LETTER &&
           !attempt->tracing->compensates && state != STATE_REPLAYING;
}

void tracing_settled(struct attempt *attempt) {
    const struct tracing *tracing = attempt->tracing;
    bool changed = !attempt->duplicate && !attempt->skipped;
    if (!tracing || !tracing->judged || !changed || !is_settled(tracing->result))
        return;
    tracing_span_settle(attempt);
    if (ends_replay(attempt))
        tracing_span_replay(attempt);
}

/* ---- the feature ---- */

/* A worker's message gets its span with its lease. */
static void prepare(struct attempt *attempt) {
    if (!queue_leases(attempt->queue))
        tracing_begin(attempt);
}

static void fill_call(struct attempt *attempt) {
    tracing_headers(attempt, &attempt->call.headers, &attempt->call.header_count);
}

const struct engine_feature tracing_feature = {
    .name = "tracing",
    .prepare = prepare,
    .fill_call = fill_call,
    .result = tracing_judged,
    .settled = tracing_settled,
};
