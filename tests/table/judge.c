/* Drives decide() from judge.txt. Given: the handler's answer, the message and the world around it;
 * `when.…` and `do` make one rule of the queue's own. Wanted: action, cause, category/reason and
 * flags; `says: TEXT`, which ends the line, is an error message with quotes in it (\n and \t are
 * its control characters). Looked at where they stand: `rule=`, `dlq=`, `verdict=`, `suspect=`,
 * `delay=FROM..TO` (any seed). */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "core/decide.h"

enum { NOW_MS = 1000 * 1000 * 1000, SEEDS = 300 };

struct situation {
    struct policy policy;
    struct rule rule;
    struct rule_facts facts;
    struct outcome outcome;
    struct subject subject;
    struct rule_header header;
    struct circumstance around;
    char said[OUTCOME_MESSAGE_MAX];
};

typedef void setter(struct situation *s, struct bytes value);

static void set_handler(struct situation *s, struct bytes value) {
    static const char *const names[] = {"http", "exec", "lease", "callback"};
    for (int i = 0; i < 4; i++)
        if (bytes_is(value, names[i])) {
            policy_init(&s->policy, BYTES("q"), BYTES("q.dlq"), (enum handler_class)i);
            return;
        }
    table_bad("a handler", value);
}

static bool find_preset(struct bytes name, enum preset *out) {
    for (*out = 0; *out < PRESET_COUNT; ++*out)
        if (bytes_is(name, preset_text(*out)))
            return true;
    return false;
}

static void set_presets(struct situation *s, struct bytes value) {
    s->policy.preset_count = 0;
    s->policy.presets_named = true;
    for (struct bytes name; value.len;) {
        table_split(value, ',', &name, &value);
        if (!find_preset(name, &s->policy.presets[s->policy.preset_count++]))
            table_bad("a preset", name);
    }
}

static void set_kind(struct situation *s, struct bytes value) {
    if (!kind_parse(value, &s->outcome.kind))
        table_bad("a kind", value);
}

static void set_status(struct situation *s, struct bytes value) {
    s->outcome.kind = KIND_STATUS;
    s->outcome.status = (int)table_number(value);
}

static void set_reported(struct situation *s, struct bytes value) {
    s->outcome.kind = KIND_REPORTED;
    s->outcome.status = (int)table_number(value);
}

static void set_exit(struct situation *s, struct bytes value) {
    s->outcome.kind = KIND_EXIT;
    s->outcome.exit_code = (int)table_number(value);
}

static void set_signal(struct situation *s, struct bytes value) {
    s->outcome.kind = KIND_SIGNAL;
    s->outcome.signal = (int)table_number(value);
}

static void set_type(struct situation *s, struct bytes value) {
    s->outcome.error_type = value;
}

static void set_message(struct situation *s, struct bytes value) {
    s->outcome.error_message = value;
}

static void set_retry_after(struct situation *s, struct bytes value) {
    s->outcome.retry_after_ms = table_duration(value);
}

static void set_verdict(struct situation *s, struct bytes value) {
    s->outcome.has_verdict = true;
    if (!verdict_parse(value, &s->outcome.verdict))
        table_bad("a verdict", value);
}

static void set_reason(struct situation *s, struct bytes value) {
    s->outcome.reason = value;
}

static void set_ok(struct situation *s, struct bytes value) {
    (void)value;
    s->outcome.ending = ENDING_OK;
}

static void set_interrupted(struct situation *s, struct bytes value) {
    (void)value;
    s->outcome.ending = ENDING_INTERRUPTED;
}

static void set_attempt(struct situation *s, struct bytes value) {
    s->subject.attempt = (uint32_t)table_number(value);
}

static void set_max(struct situation *s, struct bytes value) {
    s->subject.max_attempts = (uint32_t)table_number(value);
}

static void set_crashes(struct situation *s, struct bytes value) {
    s->subject.crashes = (uint32_t)table_number(value);
}

static void set_age(struct situation *s, struct bytes value) {
    s->subject.first_failure_at.ms = NOW_MS - table_duration(value);
}

static void set_header(struct situation *s, struct bytes value) {
    table_split(value, ':', &s->header.name, &s->header.value);
    s->subject.headers = &s->header;
    s->subject.header_count = 1;
}

static void set_probes(struct situation *s, struct bytes value) {
    s->subject.probes = (uint32_t)table_number(value);
}

static void set_outage(struct situation *s, struct bytes value) {
    (void)value;
    s->around.outage = true;
}

static void set_others(struct situation *s, struct bytes value) {
    (void)value;
    s->around.others_succeeded = true;
}

static void set_alone(struct situation *s, struct bytes value) {
    (void)value;
    s->around.alone = true;
}

static void set_probe(struct situation *s, struct bytes value) {
    (void)value;
    s->around.probe = true;
}

/* Another message succeeded on a connection that was opened after the one of this attempt. */
static void set_newer(struct situation *s, struct bytes value) {
    (void)value;
    s->around.reset_is_crash = true;
}

static void set_left(struct situation *s, struct bytes value) {
    (void)value;
    s->around.fallback_left = true;
}

static void set_fallback(struct situation *s, struct bytes value) {
    (void)value;
    s->around.on_fallback = true;
}

static void set_confirming(struct situation *s, struct bytes value) {
    (void)value;
    s->around.confirming = true;
}

static void set_route(struct situation *s, struct bytes value) {
    struct dlq_route *route = &s->policy.routes[s->policy.route_count++];
    table_split(value, ':', &route->category, &route->dlq);
}

static void set_attempts(struct situation *s, struct bytes value) {
    s->policy.retry.attempts = (uint32_t)table_number(value);
}

static void set_poison(struct situation *s, struct bytes value) {
    s->policy.poison.crashes = (uint32_t)table_number(value);
}

static struct rule_range range_of(struct bytes value) {
    struct bytes from, to;
    bool wide = table_split(value, '-', &from, &to);
    return (struct rule_range){(int)table_number(from), (int)table_number(wide ? to : from)};
}

static void set_when_status(struct situation *s, struct bytes value) {
    s->rule.when.statuses[s->rule.when.status_count++] = range_of(value);
}

static void set_when_exit(struct situation *s, struct bytes value) {
    s->rule.when.exit_codes[s->rule.when.exit_code_count++] = range_of(value);
}

static void set_when_signal(struct situation *s, struct bytes value) {
    s->rule.when.signals = range_of(value);
}

static void set_when_attempt(struct situation *s, struct bytes value) {
    s->rule.when.attempts = range_of(value);
}

static void set_when_kind(struct situation *s, struct bytes value) {
    enum kind kind;
    if (!kind_parse(value, &kind))
        table_bad("a kind", value);
    s->rule.when.kinds |= 1u << kind;
}

static void set_when_type(struct situation *s, struct bytes value) {
    s->rule.when.error_type = value;
}

static void set_when_header(struct situation *s, struct bytes value) {
    table_split(value, ':', &s->rule.when.header_name, &s->rule.when.header_value);
}

static void set_when_message(struct situation *s, struct bytes value) {
    s->rule.when.message = value;
}

static void set_fact(struct situation *s, struct bytes value) {
    (void)value;
    rule_facts_set(&s->facts, 0);
}

static void set_do(struct situation *s, struct bytes value) {
    if (!verdict_parse(value, &s->rule.verdict))
        table_bad("a verdict", value);
    s->rule.name = BYTES("q.rules[0]");
    s->policy.rules = &s->rule;
    s->policy.rule_count = 1;
}

static void set_as(struct situation *s, struct bytes value) {
    table_split(value, '/', &s->rule.category, &s->rule.reason);
}

static void set_to(struct situation *s, struct bytes value) {
    s->rule.dlq = value;
}

static const struct {
    const char *key;
    setter *set;
} keys[] = {
    {"handler", set_handler},
    {"presets", set_presets},
    {"attempts", set_attempts},
    {"poison", set_poison},
    {"route", set_route},
    {"kind", set_kind},
    {"status", set_status},
    {"reported", set_reported},
    {"exit", set_exit},
    {"signal", set_signal},
    {"type", set_type},
    {"message", set_message},
    {"retry_after", set_retry_after},
    {"verdict", set_verdict},
    {"reason", set_reason},
    {"ok", set_ok},
    {"interrupted", set_interrupted},
    {"attempt", set_attempt},
    {"max", set_max},
    {"crashes", set_crashes},
    {"age", set_age},
    {"header", set_header},
    {"probe", set_probe},
    {"probes", set_probes},
    {"outage", set_outage},
    {"others_succeeded", set_others},
    {"alone", set_alone},
    {"newer", set_newer},
    {"left", set_left},
    {"fallback", set_fallback},
    {"confirming", set_confirming},
    {"when.status", set_when_status},
    {"when.exit", set_when_exit},
    {"when.signal", set_when_signal},
    {"when.attempt", set_when_attempt},
    {"when.kind", set_when_kind},
    {"when.type", set_when_type},
    {"when.header", set_when_header},
    {"when.message", set_when_message},
    {"fact", set_fact},
    {"do", set_do},
    {"as", set_as},
    {"to", set_to},
};

static void set(struct situation *s, struct bytes key, struct bytes value) {
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (bytes_is(key, keys[i].key)) {
            keys[i].set(s, value);
            return;
        }
    table_bad("a key", key);
}

static struct bytes unescaped(struct bytes text, char *memory, size_t size) {
    struct buf out;
    buf_init_fixed(&out, memory, size);
    for (size_t i = 0; i < text.len; i++) {
        bool pair = text.ptr[i] == '\\' && i + 1 < text.len;
        char c = pair ? text.ptr[++i] : text.ptr[i];
        buf_char(&out, pair && c == 'n' ? '\n' : pair && c == 't' ? '\t' : c);
    }
    if (out.overflow)
        table_bad("a message", text);
    return buf_view(&out);
}

static void read_situation(struct situation *s, struct bytes given) {
    static const struct bytes says = BYTES(" says: ");
    size_t at = bytes_find(given, says);
    struct bytes said = bytes_cut(given, at + says.len, given.len);
    given = bytes_cut(given, 0, at);
    memset(s, 0, sizeof *s);
    set_handler(s, BYTES("http"));
    s->outcome =
        (struct outcome){.ending = ENDING_FAILED, .kind = KIND_REPORTED, .retry_after_ms = -1};
    s->subject.attempt = 1;
    s->around = (struct circumstance){.now = {NOW_MS}};
    struct bytes key, value;
    while (table_word(&given, &key, &value))
        set(s, key, value);
    if (said.len)
        s->outcome.error_message = unescaped(said, s->said, sizeof s->said);
}

static struct decision judge(const struct situation *s, uint64_t seed) {
    struct rng rng;
    rng_seed(&rng, seed);
    return decide(&s->policy, &s->subject, &s->outcome, &s->facts, &s->around, &rng);
}

static void put_flag(struct buf *out, bool flag, const char *text) {
    if (flag)
        buf_printf(out, " %s", text);
}

static void put_decision(struct buf *out, const struct decision *d) {
    char reason[DECIDE_REASON_MAX];
    static const char *const actions[] = {"done",    "retry", "fallback", "dead",
                                          "discard", "halt",  "hand_back"};
    buf_str(out, actions[d->action]);
    if (d->action == ACTION_DEAD || d->action == ACTION_DISCARD)
        buf_printf(out, " %s", cause_text(d->cause));
    if (d->category.len)
        buf_printf(out, " %.*s/%.*s", BYTES_ARG(d->category), BYTES_ARG(decide_reason(d, reason)));
    put_flag(out, d->counted, "counted");
    put_flag(out, d->crashed, "crashed");
    put_flag(out, d->probed, "probed");
    put_flag(out, d->breaker_failure, "sick");
}

/* The wanted range when every seed stays within it, else the delay that did not. */
static void put_delay(struct buf *out, const struct situation *s, struct bytes wanted) {
    struct bytes from, to;
    table_split(wanted, '.', &from, &to);
    to = bytes_cut(to, 1, to.len);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int64_t delay = judge(s, seed).delay_ms;
        if (delay < table_duration(from) || delay > table_duration(to)) {
            buf_printf(out, " delay=%lldms", (long long)delay);
            return;
        }
    }
    buf_printf(out, " delay=%.*s", BYTES_ARG(wanted));
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct situation s;
    read_situation(&s, c->given);
    struct decision d = judge(&s, 1);
    put_decision(actual, &d);
    struct bytes rest = c->wanted, key, value;
    while (table_word(&rest, &key, &value)) {
        if (bytes_is(key, "rule"))
            buf_printf(actual, " rule=%.*s", BYTES_ARG(d.rule_name));
        if (bytes_is(key, "dlq"))
            buf_printf(actual, " dlq=%.*s", BYTES_ARG(d.dlq));
        if (bytes_is(key, "verdict"))
            buf_printf(actual, " verdict=%s", verdict_text(d.verdict));
        if (bytes_is(key, "suspect"))
            buf_printf(actual, " suspect=%s", d.suspect ? "yes" : "no");
        if (bytes_is(key, "delay"))
            put_delay(actual, &s, value);
    }
}

int main(int argc, char **argv) {
    return argc == 3 ? table_run(argv[1], (size_t)table_number(bytes_of(argv[2])), answer) : 2;
}
