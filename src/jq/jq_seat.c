/* jq_seat: the state machine of one helper. See the header. */
#include "jq/jq_seat.h"

#include <assert.h>

#include "jq/jq_wire.h"

void jq_seat_init(struct jq_seat *seat) {
    *seat = (struct jq_seat){.state = JQ_SEAT_EMPTY, .deadline = MONO_NEVER};
}

bool jq_seat_start(struct jq_seat *seat, const struct jq_pool_options *options, struct mono now) {
    assert(seat->state == JQ_SEAT_EMPTY);
    if (!jq_process_start(&seat->process, options->program, options->memory_bytes))
        return false;
    jq_talk_init(&seat->talk, seat->process.fd, options->output_max);
    seat->state = JQ_SEAT_STARTING;
    seat->deadline = mono_after(now, JQ_PREPARE_MS);
    return true;
}

void jq_seat_rest(struct jq_seat *seat) {
    assert(seat->state == JQ_SEAT_STARTING || seat->state == JQ_SEAT_BUSY);
    jq_talk_clear(&seat->talk);
    seat->state = JQ_SEAT_IDLE;
    seat->deadline = MONO_NEVER;
    seat->ticket = NULL;
}

/* The helper's own CPU timer decides; this deadline is for a helper that is stopped or stuck. */
void jq_seat_ask(struct jq_seat *seat, struct jq_ticket *ticket, const struct jq_job *job,
                 int64_t timeout_ms, struct mono now) {
    assert(seat->state == JQ_SEAT_IDLE);
    jq_talk_ask(&seat->talk, job->program, job->input, timeout_ms);
    seat->state = JQ_SEAT_BUSY;
    seat->deadline = mono_after(now, JQ_PREPARE_MS + timeout_ms);
    seat->ticket = ticket;
}

enum jq_end jq_seat_end(struct jq_seat *seat) {
    assert(seat->state != JQ_SEAT_EMPTY);
    enum jq_end end = jq_process_end(&seat->process);
    jq_talk_free(&seat->talk);
    seat->state = JQ_SEAT_EMPTY;
    seat->deadline = MONO_NEVER;
    return end;
}
