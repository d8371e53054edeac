/* Properties of an attempt that depend on the attempt alone. */
#include <assert.h>

#include "engine/state.h"

#define BIT(state) (1u << ATTEMPT_##state)

/* States in which an outcome can be there, from the handler or made in its place. */
#define ENDED (BIT(NEW) | BIT(EDITING) | BIT(BATCHED) | BIT(CALLING) | BIT(LEASED))

/* The allowed predecessors of each state. */
static const unsigned before[ATTEMPT_STATES] = {
    [ATTEMPT_NEW] = 0,
    [ATTEMPT_EDITING] = BIT(NEW) | BIT(JUDGING),
    [ATTEMPT_BATCHED] = BIT(NEW) | BIT(EDITING) | BIT(JUDGING),
    [ATTEMPT_CALLING] = BIT(NEW) | BIT(EDITING) | BIT(JUDGING),
    [ATTEMPT_LEASED] = BIT(NEW) | BIT(COMMITTING),
    [ATTEMPT_ANSWERED] = BIT(BATCHED) | BIT(CALLING) | BIT(LEASED),
    [ATTEMPT_REPLYING] = BIT(BATCHED) | BIT(CALLING) | BIT(LEASED) | BIT(ANSWERED),
    [ATTEMPT_ASKING] = ENDED | BIT(ANSWERED) | BIT(REPLYING),
    [ATTEMPT_JUDGING] = ENDED | BIT(ANSWERED) | BIT(REPLYING) | BIT(ASKING),
    [ATTEMPT_RETURNING] = BIT(JUDGING),
    [ATTEMPT_SENDING] = BIT(NEW),
    [ATTEMPT_DECIDED] = BIT(NEW) | BIT(LEASED) | BIT(JUDGING) | BIT(SENDING),
    [ATTEMPT_MIRRORING] = BIT(DECIDED),
    [ATTEMPT_COMMITTING] = BIT(DECIDED) | BIT(MIRRORING),
    [ATTEMPT_POSTPONED] = BIT(MIRRORING) | BIT(COMMITTING) | BIT(POSTPONED),
};

bool attempt_may(enum attempt_state from, enum attempt_state to) {
    assert((unsigned)from < ATTEMPT_STATES && (unsigned)to < ATTEMPT_STATES);
    return before[to] >> from & 1u;
}

void attempt_to(struct attempt *attempt, enum attempt_state to) {
    assert(attempt_may(attempt->state, to));
    attempt->state = to;
}

bool attempt_is_arriving(const struct attempt *attempt) {
    return attempt->purpose == PURPOSE_STORE || attempt->purpose == PURPOSE_COME_BACK;
}

bool attempt_compensates(const struct attempt *attempt) {
    return attempt->before != NULL;
}

const struct engine_handler *attempt_handler(const struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    return attempt_compensates(attempt) && queue->compensate ? queue->compensate
                                                             : &queue->handlers[attempt->handler];
}

/* The traceparent that the message came with; NULL: none. In its arena. */
static const struct traceparent *came_with(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct traceparent origin;
    bool found = false;
    for (size_t i = 0; i < envelope->header_count && !found; i++)
        found = bytes_eq_nocase(envelope->headers[i].name, BYTES("traceparent")) &&
                traceparent_parse(envelope->headers[i].value, &origin);
    if (!found)
        return NULL;
    struct traceparent *kept = arena_alloc(&attempt->held->arena, sizeof *kept);
    *kept = origin;
    return kept;
}

struct log_about attempt_about(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    return (struct log_about){.queue = attempt->queue->name,
                              .message_id = envelope->id,
                              .letter = envelope->letter_id,
                              .trace = attempt->trace ? attempt->trace : came_with(attempt)};
}

const struct engine_reply *attempt_reply(const struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    return queue_leases(queue) ? &queue->lease_reply : &attempt_handler(attempt)->reply;
}

bool attempt_wants_answer(const struct attempt *attempt) {
    return attempt_reply(attempt)->store_ms > 0 || attempt_reply(attempt)->sink;
}
