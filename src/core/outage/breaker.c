/* breaker: see the picture in the header. */
#include "core/outage/breaker.h"

#include <assert.h>
#include <string.h>

enum {
    RETRY_AFTER_MAX_MS = 3600 * 1000, /* a downstream cannot keep a queue closed for longer */
    PERMILLE = 1000,
};

static const uint32_t sick_kinds =
    1u << KIND_TIMEOUT | 1u << KIND_REFUSED | 1u << KIND_RESET | 1u << KIND_DNS | 1u << KIND_TLS;

static bool is_sick_http(const struct outcome *outcome) {
    int status = outcome->status;
    return (sick_kinds >> outcome->kind & 1u) || status == 408 || status == 425 || status == 429 ||
           (status >= 500 && status <= 599);
}

/* A stream worker's report is judged like a lease's: it says in words what an exit code or a broken
 * connection would have said. */
static bool is_sick_exec(const struct outcome *outcome, enum verdict verdict) {
    if (outcome->kind == KIND_REPORTED)
        return verdict == VERDICT_RETRY;
    return outcome->kind == KIND_TIMEOUT ||
           (outcome->kind == KIND_EXIT && (outcome->exit_code == 69 || outcome->exit_code == 75));
}

bool breaker_is_failure(enum handler_class handler, const struct outcome *outcome,
                        enum verdict verdict) {
    if (outcome->ending != ENDING_FAILED)
        return false;
    switch (handler) {
    case HANDLER_HTTP:
        return is_sick_http(outcome);
    case HANDLER_EXEC:
        return is_sick_exec(outcome, verdict);
    case HANDLER_LEASE:
    case HANDLER_CALLBACK:
        break;
    }
    return verdict == VERDICT_RETRY;
}

static struct mono later(struct mono a, struct mono b) {
    return a.ms > b.ms ? a : b;
}

static int64_t within(int64_t ms, int64_t most) {
    return ms < most ? ms : most;
}

/* ---- closed: the window and consecutive failures ---- */

static void forget_window(struct breaker *breaker) {
    memset(breaker->slot_attempts, 0, sizeof breaker->slot_attempts);
    memset(breaker->slot_failures, 0, sizeof breaker->slot_failures);
}

static void end_row(struct breaker *breaker) {
    breaker->row = 0;
    breaker->failing_count = 0;
    breaker->row_until = (struct mono){0};
}

/* A slot number that went back means that the window's length changed: the counts are void. */
static void advance_window(struct breaker *breaker, const struct breaker_policy *policy,
                           struct mono now) {
    int64_t length = policy->window_ms / BREAKER_SLOTS;
    int64_t slot = now.ms / (length > 0 ? length : 1);
    int64_t gap = slot - breaker->slot;
    if (gap < 0 || gap >= BREAKER_SLOTS) {
        forget_window(breaker);
    } else {
        for (int64_t passed = breaker->slot + 1; passed <= slot; passed++) {
            breaker->slot_attempts[passed % BREAKER_SLOTS] = 0;
            breaker->slot_failures[passed % BREAKER_SLOTS] = 0;
        }
    }
    breaker->slot = slot;
}

static void count_in_window(struct breaker *breaker, bool failed) {
    breaker->slot_attempts[breaker->slot % BREAKER_SLOTS]++;
    if (failed)
        breaker->slot_failures[breaker->slot % BREAKER_SLOTS]++;
}

static bool is_failing(const struct breaker *breaker, uint64_t message) {
    for (uint32_t i = 0; i < breaker->failing_count; i++)
        if (breaker->failing[i] == message)
            return true;
    return false;
}

static void count_failing(struct breaker *breaker, uint64_t message) {
    assert(breaker->failing_count <= BREAKER_EVIDENCE);
    if (breaker->failing_count < BREAKER_EVIDENCE && !is_failing(breaker, message))
        breaker->failing[breaker->failing_count++] = message;
}

static bool has_evidence(const struct breaker *breaker) {
    return breaker->failing_count >= BREAKER_EVIDENCE;
}

static struct mono asked_for(struct mono now, struct breaker_answer answer) {
    return mono_after(now, within(answer.retry_after_ms, RETRY_AFTER_MAX_MS));
}

static void count_in_row(struct breaker *breaker, struct mono now, struct breaker_answer answer) {
    count_failing(breaker, answer.message);
    if (breaker->row < UINT32_MAX)
        breaker->row++;
    breaker->row_until = later(breaker->row_until, asked_for(now, answer));
}

static bool row_is_long(const struct breaker *breaker, const struct breaker_policy *policy) {
    return breaker->row >= policy->consecutive && breaker->failing_count > 1;
}

static bool window_is_bad(const struct breaker *breaker, const struct breaker_policy *policy) {
    uint64_t attempts = 0, failures = 0;
    for (int i = 0; i < BREAKER_SLOTS; i++) {
        attempts += breaker->slot_attempts[i];
        failures += breaker->slot_failures[i];
    }
    return attempts >= policy->min_attempts &&
           failures * PERMILLE >= attempts * policy->failure_permille;
}

/* ---- changes of state ---- */

static void open_for(struct breaker *breaker, struct mono now, int64_t open_ms, struct mono asked) {
    assert(open_ms >= 0);
    breaker->state = BREAKER_OPEN;
    breaker->began = now;
    breaker->asked = asked;
    breaker->open_ms = open_ms;
    breaker->until = later(mono_after(now, open_ms), asked);
    breaker->round = 0;
    breaker->round_ok = 0;
}

static void open_first(struct breaker *breaker, const struct breaker_policy *policy,
                       struct mono now) {
    breaker->opened_at = now;
    open_for(breaker, now, within(BREAKER_FIRST_OPEN_MS, policy->open_ms), breaker->row_until);
}

/* A successful round before this one speaks for the downstream: the opening starts at its shortest
 * again. Otherwise a poison message or two would delay healthy ones for longer and longer. */
static void open_again(struct breaker *breaker, const struct breaker_policy *policy,
                       struct mono now, struct mono asked) {
    int64_t first = within(BREAKER_FIRST_OPEN_MS, policy->open_ms);
    int64_t longest = has_evidence(breaker) ? policy->open_ms : BREAKER_DOUBT_MAX_MS;
    bool anew = breaker->round > 1 || breaker->open_ms == 0;
    int64_t next = anew ? first : within(breaker->open_ms * 2, longest);
    breaker->round_started -= breaker->round_ok;
    open_for(breaker, now, next, asked);
}

static void close_it(struct breaker *breaker) {
    *breaker = (struct breaker){.state = BREAKER_CLOSED, .slot = breaker->slot};
}

static void begin_round(struct breaker *breaker, uint32_t size) {
    assert(size > 0 && size <= BREAKER_ROUND_MAX);
    breaker->state = BREAKER_HALF_OPEN;
    breaker->round = size;
    breaker->round_started = 0;
    breaker->round_ok = 0;
}

static void end_round(struct breaker *breaker, uint32_t concurrency) {
    assert(breaker->state == BREAKER_HALF_OPEN && breaker->round_ok == breaker->round);
    uint32_t last = concurrency < BREAKER_ROUND_MAX ? concurrency : BREAKER_ROUND_MAX;
    if (breaker->round >= last)
        close_it(breaker);
    else
        begin_round(breaker, breaker->round * 2 < last ? breaker->round * 2 : last);
}

/* ---- events ---- */

/* A call that was in flight when the breaker opened says nothing about the time since; its message
 * counts as failed or succeeded all the same. */
static void note_late(struct breaker *breaker, struct breaker_answer answer) {
    if (answer.failed)
        count_failing(breaker, answer.message);
    else
        breaker->failing_count = 0;
}

bool breaker_note(struct breaker *breaker, const struct breaker_policy *policy, struct mono now,
                  struct breaker_answer answer) {
    if (policy->off)
        return false;
    if (breaker->state != BREAKER_CLOSED) {
        note_late(breaker, answer);
        return false;
    }
    advance_window(breaker, policy, now);
    count_in_window(breaker, answer.failed);
    if (!answer.failed) {
        end_row(breaker);
        return false;
    }
    count_in_row(breaker, now, answer);
    if (!row_is_long(breaker, policy) && !window_is_bad(breaker, policy))
        return false;
    open_first(breaker, policy, now);
    return true;
}

void breaker_failed_too(struct breaker *breaker, uint64_t message) {
    count_failing(breaker, message);
}

bool breaker_is_outage(const struct breaker *breaker, uint64_t message) {
    return breaker->failing_count + !is_failing(breaker, message) >= BREAKER_EVIDENCE;
}

struct mono breaker_arrival_from(const struct breaker *breaker) {
    if (breaker->state != BREAKER_OPEN || has_evidence(breaker))
        return MONO_NEVER;
    return later(mono_after(breaker->began, BREAKER_ARRIVAL_GAP_MS), breaker->asked);
}

void breaker_arrived(struct breaker *breaker, struct mono now) {
    assert(breaker_arrival_from(breaker).ms <= now.ms);
    if (breaker->until.ms > now.ms)
        breaker->until = now;
}

void breaker_resume(struct breaker *breaker, struct mono now) {
    if (breaker->state != BREAKER_OPEN)
        return;
    breaker->until = now;
    breaker->asked = now;
    breaker->open_ms = 0;
}

/* A new round waits for the probes of a broken one that are still in flight: so an answer while
 * OPEN is always of an old probe, and one while HALF_OPEN always of the current round. */
uint32_t breaker_probes_wanted(struct breaker *breaker, const struct breaker_policy *policy,
                               struct mono now) {
    if (policy->off && breaker->state != BREAKER_CLOSED)
        close_it(breaker);
    if (breaker->state == BREAKER_OPEN && now.ms >= breaker->until.ms &&
        breaker->round_started == 0)
        begin_round(breaker, 1);
    if (breaker->state != BREAKER_HALF_OPEN)
        return 0;
    return breaker->round - breaker->round_started;
}

void breaker_probe_started(struct breaker *breaker) {
    assert(breaker->state == BREAKER_HALF_OPEN && breaker->round_started < breaker->round);
    breaker->round_started++;
}

void breaker_probe_withdrawn(struct breaker *breaker) {
    if (breaker->round_started > breaker->round_ok)
        breaker->round_started--;
}

enum breaker_state breaker_probe_ended(struct breaker *breaker, const struct breaker_policy *policy,
                                       struct mono now, uint32_t concurrency,
                                       struct breaker_answer answer) {
    if (breaker->state != BREAKER_HALF_OPEN) {
        breaker_probe_withdrawn(breaker);
        note_late(breaker, answer);
    } else if (answer.failed) {
        breaker_probe_withdrawn(breaker);
        count_failing(breaker, answer.message);
        open_again(breaker, policy, now, asked_for(now, answer));
    } else {
        breaker->failing_count = 0;
        if (++breaker->round_ok == breaker->round)
            end_round(breaker, concurrency);
    }
    return breaker->state;
}

const char *breaker_state_text(enum breaker_state state) {
    static const char *const texts[] = {"closed", "open", "half_open"};
    assert((size_t)state < sizeof texts / sizeof texts[0]);
    return texts[state];
}
