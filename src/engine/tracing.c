#include "engine/tracing.h"

#include <sodium.h>
#include <string.h>

#include "engine/tracing_span.h"

/* ---- ids ---- */

/* The same for the same words, in every life of ours. */
static void derive(unsigned char *out, size_t size, const char *what, struct bytes id,
                   int64_t number) {
    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)what, strlen(what) + 1);
    crypto_generichash_update(&state, (const unsigned char *)&number, sizeof number);
    crypto_generichash_update(&state, (const unsigned char *)id.ptr, id.len);
    crypto_generichash_final(&state, hash, sizeof hash);
    memcpy(out, hash, size);
}

void tracing_random_span(struct engine *engine, unsigned char out[SPAN_ID_SIZE]) {
    uint64_t id;
    do
        id = rng_next(&engine->rng);
    while (id == 0);
    memcpy(out, &id, SPAN_ID_SIZE);
}

/* A letter keeps its id when a replay sends it to another queue. */
void tracing_replay_span(const struct envelope *envelope, unsigned char out[SPAN_ID_SIZE]) {
    derive(out, SPAN_ID_SIZE, "replay", envelope->letter_id, envelope->replays);
}

static void round_trace(const struct flight *flight, uint32_t round,
                        unsigned char out[TRACE_ID_SIZE]) {
    const struct envelope *envelope = &flight->held->envelope;
    if (round > 0)
        derive(out, TRACE_ID_SIZE, "replay's trace", envelope->letter_id, round);
    else if (flight->tracing->came)
        memcpy(out, flight->tracing->origin.trace_id, TRACE_ID_SIZE);
    else
        derive(out, TRACE_ID_SIZE, "trace", envelope->id, envelope->created_at.ms);
}

void tracing_end_of_round(const struct flight *flight, uint32_t round, struct traceparent *out) {
    round_trace(flight, round, out->trace_id);
    derive(out->span_id, SPAN_ID_SIZE, "settle", flight->held->envelope.letter_id, round);
    out->flags = flight->tracing->own.flags;
}

/* ---- context ---- */

static struct bytes header_of(const struct envelope *envelope, struct bytes name) {
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_eq_nocase(envelope->headers[i].name, name))
            return envelope->headers[i].value;
    return BYTES_NONE;
}

#define TRACEPARENT BYTES("traceparent")
#define TRACESTATE  BYTES("tracestate")

/* As OpenTelemetry's samplers by ratio do, so that all of them choose the same traces. */
static bool is_chosen(const struct spans *spans, const unsigned char trace_id[TRACE_ID_SIZE]) {
    enum { PERMILLE = 1000 };
    uint64_t number = 0;
    for (size_t i = TRACE_ID_SIZE / 2; i < TRACE_ID_SIZE; i++)
        number = number << 8 | trace_id[i];
    return spans->sample_permille >= PERMILLE ||
           number >> 1 < (UINT64_C(1) << 63) / PERMILLE * spans->sample_permille;
}

static void find_place(struct flight *flight, struct tracing *tracing) {
    const struct envelope *envelope = &flight->held->envelope;
    struct engine *engine = flight->queue->engine;
    tracing->compensates = envelope->compensating > 0;
    tracing->begins = tracing->compensates || envelope->replays > 0;
    if (tracing->compensates) { /* nothing later is told of it */
        tracing_random_span(engine, tracing->own.trace_id);
        tracing_random_span(engine, tracing->own.trace_id + SPAN_ID_SIZE);
        return;
    }
    round_trace(flight, envelope->replays, tracing->own.trace_id);
    if (envelope->replays > 0)
        tracing_replay_span(envelope, tracing->parent);
    else if (tracing->came)
        memcpy(tracing->parent, tracing->origin.span_id, SPAN_ID_SIZE);
}

static struct tracing *context_of(struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    const struct spans *spans = flight->queue->engine->options.spans;
    if (flight->tracing)
        return flight->tracing;
    struct tracing *tracing = arena_alloc(&flight->held->arena, sizeof *tracing);
    flight->tracing = tracing;
    tracing->came = traceparent_parse(header_of(envelope, TRACEPARENT), &tracing->origin);
    if (tracing->came)
        tracing->origin_state = header_of(envelope, TRACESTATE);
    find_place(flight, tracing);
    if (tracing->came)
        tracing->own.flags = tracing->origin.flags;
    else if (is_chosen(spans, tracing->own.trace_id))
        tracing->own.flags = TRACEPARENT_SAMPLED;
    if (tracing->begins)
        tracing->own.flags &= TRACEPARENT_SAMPLED;
    memcpy(tracing->own.span_id, tracing->parent, SPAN_ID_SIZE);
    return tracing;
}

static void make_headers(struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    struct tracing *tracing = flight->tracing;
    struct arena *arena = &flight->held->arena;
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

/* A lease outlives us, and so does its span's name; its secret cannot be told from that. */
void tracing_begin(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    const struct envelope *envelope = &flight->held->envelope;
    if (!engine->options.spans)
        return;
    struct tracing *tracing = context_of(flight);
    tracing->attempted = true;
    tracing->attempt = envelope_tries(envelope) + 1;
    if (queue_leases(flight->queue))
        derive(tracing->own.span_id, SPAN_ID_SIZE, "lease", envelope->id, (int64_t)envelope->lease);
    else
        tracing_random_span(engine, tracing->own.span_id);
    make_headers(flight);
}

void tracing_headers(const struct flight *flight, const struct rule_header **headers,
                     size_t *count) {
    const struct envelope *envelope = &flight->held->envelope;
    bool ours = flight->tracing != NULL;
    *headers = ours ? flight->tracing->headers : envelope->headers;
    *count = ours ? flight->tracing->header_count : envelope->header_count;
}

/* What the message came with; NULL: nothing. In its arena. */
static const struct traceparent *came_with(const struct flight *flight) {
    struct traceparent origin;
    if (!traceparent_parse(header_of(&flight->held->envelope, TRACEPARENT), &origin))
        return NULL;
    struct traceparent *kept = arena_alloc(&flight->held->arena, sizeof *kept);
    *kept = origin;
    return kept;
}

struct log_about tracing_about(const struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    return (struct log_about){.queue = flight->queue->name,
                              .message_id = envelope->id,
                              .letter = envelope->letter_id,
                              .trace = flight->tracing ? &flight->tracing->own : came_with(flight)};
}

/* ---- what is told ---- */

void tracing_judged(struct flight *flight, enum attempt_result result) {
    if (!flight->queue->engine->options.spans)
        return;
    struct tracing *tracing = context_of(flight);
    tracing->judged = true;
    tracing->result = result;
    tracing->judged_at = flight->queue->engine->now;
    if (tracing->attempted)
        tracing_span_process(flight);
}

/* It has left our hands for good, until its retry, or until people look at it. */
static bool is_settled(enum attempt_result result) {
    return result == RESULT_OK || result == RESULT_RETRY || result == RESULT_DLQ ||
           result == RESULT_DISCARD || result == RESULT_DUPLICATE;
}

static bool ends_replay(const struct flight *flight) {
    enum state state = flight->held->envelope.state;
    return flight->held->envelope.replays > 0 && !flight->late_letter &&
           !flight->tracing->compensates && state != STATE_REPLAYING;
}

void tracing_settled(struct flight *flight) {
    const struct tracing *tracing = flight->tracing;
    bool changed = !flight->duplicate && !flight->skipped;
    if (!tracing || !tracing->judged || !changed || !is_settled(tracing->result))
        return;
    tracing_span_settle(flight);
    if (ends_replay(flight))
        tracing_span_replay(flight);
}
