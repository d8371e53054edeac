/* Ids of traces and spans: derived, so that the same message has the same ids after a restart. */
#include <sodium.h>
#include <string.h>

#include "engine/features/tracing/tracing.h"

void tracing_derive(unsigned char *out, size_t size, const char *what, struct bytes id,
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
    tracing_derive(out, SPAN_ID_SIZE, "replay", envelope->letter_id, envelope->replays);
}

void tracing_trace_of_round(const struct attempt *attempt, uint32_t round,
                            unsigned char out[TRACE_ID_SIZE]) {
    const struct envelope *envelope = &attempt->held->envelope;
    if (round > 0)
        tracing_derive(out, TRACE_ID_SIZE, "replay's trace", envelope->letter_id, round);
    else if (attempt->tracing->came)
        memcpy(out, attempt->tracing->origin.trace_id, TRACE_ID_SIZE);
    else
        tracing_derive(out, TRACE_ID_SIZE, "trace", envelope->id, envelope->created_at.ms);
}

void tracing_end_of_round(const struct attempt *attempt, uint32_t round, struct traceparent *out) {
    tracing_trace_of_round(attempt, round, out->trace_id);
    tracing_derive(out->span_id, SPAN_ID_SIZE, "settle", attempt->held->envelope.letter_id, round);
    out->flags = attempt->tracing->own.flags;
}
