/* The setters of an outcome: they copy into memory that is already allocated. */
#include <stdlib.h>
#include <string.h>

#include "lib/library.h"
#include "base/memory.h"

struct impound_outcome *impound_outcome_new(void) {
    struct impound_outcome *outcome = memory_new(sizeof *outcome);
    impound_outcome_ok(outcome);
    return outcome;
}

void impound_outcome_free(struct impound_outcome *outcome) {
    free(outcome);
}

static struct bytes copy(char *to, size_t size, const char *text) {
    struct bytes kept = bytes_clip(bytes_of(text), size);
    if (kept.len)
        memcpy(to, kept.ptr, kept.len);
    return (struct bytes){to, kept.len};
}

void impound_outcome_ok(struct impound_outcome *outcome) {
    outcome->outcome = (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1};
}

void impound_outcome_fail(struct impound_outcome *outcome, const char *error_type,
                          const char *error_message) {
    outcome->outcome = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_REPORTED,
        .error_type = copy(outcome->error_type, sizeof outcome->error_type, error_type),
        .error_message = copy(outcome->error_message, sizeof outcome->error_message, error_message),
        .retry_after_ms = -1,
    };
}

void impound_outcome_interrupt(struct impound_outcome *outcome) {
    outcome->outcome = (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
}

void impound_outcome_set_kind(struct impound_outcome *outcome, enum impound_kind kind) {
    if ((unsigned)kind < KIND_COUNT)
        outcome->outcome.kind = (enum kind)kind;
}

void impound_outcome_set_status(struct impound_outcome *outcome, int http_status) {
    outcome->outcome.status = http_status;
}

void impound_outcome_set_exit_code(struct impound_outcome *outcome, int exit_code) {
    outcome->outcome.kind = KIND_EXIT;
    outcome->outcome.exit_code = exit_code;
}

void impound_outcome_set_signal(struct impound_outcome *outcome, int number) {
    outcome->outcome.kind = KIND_SIGNAL;
    outcome->outcome.signal = number;
}

void impound_outcome_set_stack_trace(struct impound_outcome *outcome, const char *stack_trace) {
    outcome->outcome.stack_trace =
        copy(outcome->stack_trace, sizeof outcome->stack_trace, stack_trace);
}

void impound_outcome_set_version(struct impound_outcome *outcome, const char *version) {
    outcome->outcome.version = copy(outcome->version, sizeof outcome->version, version);
}

void impound_outcome_set_retry_after(struct impound_outcome *outcome, int64_t ms) {
    outcome->outcome.retry_after_ms = ms < 0 ? -1 : ms;
}

void impound_outcome_set_verdict(struct impound_outcome *outcome, enum impound_verdict verdict,
                                 const char *reason) {
    if ((unsigned)verdict >= VERDICT_COUNT)
        return;
    outcome->outcome.has_verdict = true;
    outcome->outcome.verdict = (enum verdict)verdict;
    outcome->outcome.reason = copy(outcome->reason, sizeof outcome->reason, reason);
}
