/* Drives the breaker from breaker.txt. Given, after `key=value` settings, is a story:
 *     a!  b!  a!60s   message a failed; b failed; a failed with a Retry-After of 60 s
 *     a.              message a was answered well
 *     x!*20           twenty different messages failed, one after another
 *     +10s            time passes
 *     ?               as many probes as are wanted are handed over
 *     P.  P!  P!60s   a probe, of a message that was never seen, ended well, or failed
 *     A.  A!          a probe of message a did
 *     W               a probe was interrupted
 *     N               a message that was never attempted arrives
 *     R               a person resumes the queue
 * Wanted: the state; while open how long from now, while half open how many probes are wanted;
 * then, where one of them is asked for, `outage` or `doubt`: whether there is evidence of an
 * outage. */
#include "table.h"

#include <stdlib.h>

#include "core/outage/breaker.h"

struct story {
    struct breaker breaker;
    struct policy policy;
    uint32_t concurrency;
    struct mono now;
    uint64_t stranger; /* number of the next message that was never seen */
};

static bool set(struct story *s, struct bytes key, struct bytes value) {
    struct breaker_policy *policy = &s->policy.breaker;
    if (bytes_is(key, "off"))
        policy->off = true;
    else if (bytes_is(key, "concurrency"))
        s->concurrency = (uint32_t)table_number(value);
    else if (bytes_is(key, "consecutive"))
        policy->consecutive = (uint32_t)table_number(value);
    else if (bytes_is(key, "min_attempts"))
        policy->min_attempts = (uint32_t)table_number(value);
    else if (bytes_is(key, "rate"))
        policy->failure_permille = (uint32_t)table_number(value) * 10;
    else if (bytes_is(key, "open"))
        policy->open_ms = table_duration(value);
    else if (bytes_is(key, "window"))
        policy->window_ms = table_duration(value);
    else
        return false;
    return true;
}

static void hand_over_probes(struct story *s) {
    uint32_t wanted = breaker_probes_wanted(&s->breaker, &s->policy.breaker, s->now);
    while (wanted--)
        breaker_probe_started(&s->breaker);
}

static void answer_one(struct story *s, char who, bool failed, int64_t retry_after_ms) {
    const struct breaker_policy *policy = &s->policy.breaker;
    struct breaker_answer answer = {.message = who == 'x' || who == 'P' ? s->stranger++
                                                                        : (uint64_t)(who | 0x20),
                                    .failed = failed,
                                    .retry_after_ms = retry_after_ms};
    if (who >= 'A' && who <= 'Z')
        breaker_probe_ended(&s->breaker, policy, s->now, s->concurrency, answer);
    else
        breaker_note(&s->breaker, policy, s->now, answer);
}

/* who, '!' or '.', then a Retry-After or a count: "a!", "x!*20", "P!60s". */
static void answer_many(struct story *s, struct bytes word) {
    if (word.len < 2 || (word.ptr[1] != '!' && word.ptr[1] != '.'))
        table_bad("a step", word);
    struct bytes rest = bytes_cut(word, 2, word.len);
    bool counted = rest.len && rest.ptr[0] == '*';
    int64_t times = counted ? table_number(bytes_cut(rest, 1, rest.len)) : 1;
    int64_t retry_after_ms = rest.len && !counted ? table_duration(rest) : -1;
    while (times--)
        answer_one(s, word.ptr[0], word.ptr[1] == '!', retry_after_ms);
}

static void arrive(struct story *s) {
    if (breaker_arrival_from(&s->breaker).ms <= s->now.ms)
        breaker_arrived(&s->breaker, s->now);
}

static void step(struct story *s, struct bytes word) {
    if (word.ptr[0] == '+')
        s->now = mono_after(s->now, table_duration(bytes_cut(word, 1, word.len)));
    else if (bytes_is(word, "?"))
        hand_over_probes(s);
    else if (bytes_is(word, "W"))
        breaker_probe_withdrawn(&s->breaker);
    else if (bytes_is(word, "N"))
        arrive(s);
    else if (bytes_is(word, "R"))
        breaker_resume(&s->breaker, s->now);
    else
        answer_many(s, word);
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct story s = {.concurrency = 4, .now = {5000}, .stranger = 1000};
    policy_init(&s.policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    struct bytes rest = c->given, key, value;
    while (table_word(&rest, &key, &value))
        if (!set(&s, key, value))
            step(&s, key);
    uint32_t wanted = breaker_probes_wanted(&s.breaker, &s.policy.breaker, s.now);
    buf_str(actual, breaker_state_text(s.breaker.state));
    if (s.breaker.state == BREAKER_HALF_OPEN)
        buf_printf(actual, " %u", wanted);
    if (s.breaker.state == BREAKER_OPEN) {
        buf_char(actual, ' ');
        int64_t left = s.breaker.until.ms - s.now.ms;
        duration_put(actual, left > 0 ? left : 0);
    }
    bool outage = s.breaker.failing_count == BREAKER_EVIDENCE;
    for (rest = c->wanted; table_word(&rest, &key, &value);)
        if (bytes_is(key, "outage") || bytes_is(key, "doubt"))
            buf_str(actual, outage ? " outage" : " doubt");
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 30, answer) : 2;
}
