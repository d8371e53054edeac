/* envelope: failure and history of an envelope. */
#include "core/envelope/envelope.h"

#include <assert.h>
#include <string.h>

#include "core/fingerprint.h"
#include "core/trace/trace.h"

/* Always a new array: a copy of the envelope may still refer to the old one. */
bool envelope_note(struct envelope *envelope, struct arena *arena,
                   const struct envelope_note *note) {
    size_t kept = envelope->history_count;
    size_t dropped = kept >= ENVELOPE_HISTORY_MAX ? kept - ENVELOPE_HISTORY_MAX + 1 : 0;
    kept -= dropped;
    struct envelope_note *notes = arena_alloc(arena, (kept + 1) * sizeof *notes);
    if (!notes)
        return false;
    if (kept)
        memcpy(notes, envelope->history + dropped, kept * sizeof *notes);
    notes[kept] = *note;
    notes[kept].error_message = bytes_clip(note->error_message, ENVELOPE_NOTE_MESSAGE_MAX);
    envelope->history = notes;
    envelope->history_count = kept + 1;
    return true;
}

void envelope_fail(struct envelope *envelope, const struct outcome *outcome, struct wall now) {
    assert(outcome->ending == ENDING_FAILED);
    struct wall at = outcome->failed_at.ms > 0 ? outcome->failed_at : now;
    envelope->failed = true;
    envelope->kind = outcome->kind;
    envelope->status = outcome->status;
    envelope->exit_code = outcome->exit_code;
    envelope->signal = outcome->signal;
    envelope->error_type = bytes_clip(outcome->error_type, OUTCOME_TYPE_MAX);
    envelope->error_message = bytes_clip(outcome->error_message, OUTCOME_MESSAGE_MAX);
    envelope->stack_trace = trace_tail(outcome->stack_trace);
    envelope->retry_after_ms = outcome->retry_after_ms;
    envelope->fingerprint =
        fingerprint_of(envelope->error_type, envelope->error_message, envelope->stack_trace);
    if (envelope->first_failure_at.ms == WALL_NEVER.ms)
        envelope->first_failure_at = at;
    envelope->last_failure_at = at;
}
