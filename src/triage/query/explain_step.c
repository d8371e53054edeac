/* explain_step: see the header. */
#include "triage/query/explain_step.h"

#include "core/backoff.h"

/* The first non-empty line of the error; the envelope has the rest. */
static struct bytes first_line(struct bytes text) {
    struct bytes line = BYTES_NONE;
    while (bytes_trim(line).len == 0 && bytes_line(&text, &line))
        continue;
    return bytes_clip(bytes_trim(line), EXPLAIN_MESSAGE_MAX);
}

void explain_step_put_error(struct bytes error_type, struct bytes error_message, struct buf *out) {
    struct bytes message = first_line(error_message);
    if (error_type.len)
        buf_bytes(out, error_type);
    if (error_type.len && message.len)
        buf_str(out, ": ");
    buf_bytes(out, message);
}

static void put_bound(const struct retry_policy *retry, const struct envelope_note *note,
                      struct buf *out) {
    static const char *const jitters[] = {
        [JITTER_FULL] = "full jitter of at most ",
        [JITTER_EQUAL] = "equal jitter of at most ",
        [JITTER_DECORRELATED] = "decorrelated jitter of at most ",
        [JITTER_NONE] = "no jitter: ",
    };
    int64_t bound = backoff_longest_ms(retry, note->attempt);
    if (note->delay_ms > bound)
        buf_str(out, " (longer than its backoff of at most ");
    else
        buf_printf(out, " (%s", jitters[retry->jitter]);
    duration_put(out, bound);
    buf_str(out, note->delay_ms > bound ? ", as Retry-After or the retry budget asked)" : ")");
}

static void put_verdict(const struct envelope_note *note, enum verdict verdict, struct bytes rule,
                        struct buf *out) {
    buf_str(out, " → ");
    if (rule.len)
        buf_printf(out, "rule %.*s said ", BYTES_ARG(rule));
    buf_str(out, verdict_text(verdict));
    if (note->category.len)
        buf_printf(out, " (%.*s)", BYTES_ARG(note->category));
}

static void put_failure(const struct envelope_note *note, struct bytes rule, bool refused_again,
                        const struct policy *policy, struct buf *out) {
    buf_str(out, " failed");
    if (note->error_type.len || note->error_message.len)
        buf_str(out, ": ");
    explain_step_put_error(note->error_type, note->error_message, out);
    put_verdict(note, refused_again ? VERDICT_HALT : note->verdict, rule, out);
    if (refused_again)
        buf_str(out,
                "; it was refused again after another message had succeeded, and dead-lettered");
    else if (note->verdict == VERDICT_HALT)
        buf_str(out, "; it was refused");
    if (note->delay_ms < 0)
        return;
    buf_printf(out, "; next attempt %lld ms later", (long long)note->delay_ms);
    if (policy)
        put_bound(&policy->retry, note, out);
}

void explain_step_put(const struct envelope_note *note, struct bytes rule, bool refused_again,
                      const struct policy *policy, struct buf *out) {
    if (note->replay > 0)
        buf_printf(out, "replay %u, ", note->replay);
    buf_printf(out, "attempt %u", note->attempt);
    if (note->probe)
        buf_str(out, " (a probe of the open breaker)");
    if (note->ok)
        buf_str(out, " succeeded");
    else if (note->interrupted)
        buf_str(out, " was interrupted when impound stopped");
    else
        put_failure(note, rule, refused_again, policy, out);
    if (!note->counted)
        buf_str(out, "; it does not count");
}
