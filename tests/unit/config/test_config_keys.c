/* Every key of every table: it is read, printed, read back, and a reload says what it should of it.
 * A row without a sample here fails the test. */
#include "test.h"

#include <stdio.h>

#include "config/config.h"
#include "config/config_tables.h"

/* A mapping with the key and the same one without it, or with another value. */
struct sample {
    const char *mapping, *key, *with, *without;
    const char *told; /* by a reload, before " changed: restart to apply"; NULL: it applies */
};

#define Q    "queues: {q: {handler: {http: \"http://h\"}}}"
#define HTTP "http: \"http://h\""

/* Where a mapping stands in a file. */
static const struct {
    const char *mapping, *before, *behind;
} places[] = {
    {"the top level", "", ""},
    {"server", "server: {", "}\n" Q},
    {"telemetry", "server: {telemetry: {", "}}\n" Q},
    {"queue", "queues: {q: {", "}}"},
    {"handler", "queues: {q: {handler: {", "}}}"},
    {"reply", "queues: {q: {handler: {" HTTP ", reply: {", "}}}}"},
    {"classify", "queues: {q: {handler: {" HTTP "}, classify: {", "}}}"},
    {"rule", "queues: {q: {handler: {" HTTP "}, classify: {rules: [{", "}]}}}"},
    {"when", "queues: {q: {handler: {" HTTP "}, classify: {rules: [{do: retry, when: {", "}}]}}}"},
    {"answer rule", "queues: {q: {handler: {" HTTP "}, classify: {answers: [{", "}]}}}"},
    {"when of an answer rule",
     "queues: {q: {handler: {" HTTP "}, classify: {answers: [{do: retry, when: {", "}}]}}}"},
    {"retry", "queues: {q: {handler: {" HTTP "}, retry: {", "}}}"},
    {"breaker", "queues: {q: {handler: {" HTTP "}, breaker: {", "}}}"},
    {"flood", "queues: {q: {handler: {" HTTP "}, flood: {", "}}}"},
    {"poison", "queues: {q: {handler: {" HTTP "}, poison: {", "}}}"},
    {"dlq", "queues: {q: {handler: {" HTTP "}, dlq: {", "}}}"},
    {"fresh", "queues: {q: {handler: {" HTTP "}, dlq: {fresh: {", "}}}}"},
    {"retention", "queues: {q: {handler: {" HTTP "}, dlq: {archive: \"file:a\", retention: {",
     "}}}}"},
    {"triage rule", "queues: {q: {handler: {" HTTP "}, dlq: {archive: \"file:a\", triage: [{",
     "}]}}}\nalerts: {to: [{name: p, slack: \"http://h\"}]}"},
    {"when of a triage rule",
     "queues: {q: {handler: {" HTTP "}, dlq: {triage: [{do: replay, when: {", "}}]}}}"},
    {"replay", "queues: {q: {handler: {" HTTP "}, replay: {", "}}}"},
    {"dlqs", Q "\ndlqs: {q.dlq: {", "}}"},
    {"idempotency", "queues: {q: {handler: {" HTTP "}, idempotency: {", "}}}"},
    {"adopt", Q "\nadopt: [{", "}]"},
    {"alerts", Q "\nalerts: {", "}"},
    {"receiver", Q "\nalerts: {to: [{name: p, ", "}]}"},
    {"alert rule", Q "\nalerts: {to: [{name: p, slack: \"http://h\"}], rules: [{", "}]}"},
};

#define HANDLER "queues.q.handler"
#define ADOPTED "source: \"redis://h/0?list=a\""
#define ALERT   "name: a, metric: dlq_depth, above: 1"
#define REPLAY  "do: replay"

static const struct sample samples[] = {
    {"the top level", "server", "server: {drain: 1s}\n" Q, Q, NULL},
    {"the top level", "store", "store: sqlite:b\n" Q, Q, "store"},
    {"the top level", "queues", "queues: {q: {handler: lease}}", Q, HANDLER},
    {"the top level", "dlqs", Q "\ndlqs: {q.dlq: {cap: 3}}", Q, NULL},
#ifdef IMPOUND_REDIS
    {"the top level", "adopt", Q "\nadopt: [{" ADOPTED "}]", Q, "adopt"},
#endif
    {"the top level", "alerts", Q "\nalerts: {defaults: off}", Q, "alerts"},
    {"server", "listen", "listen: 127.0.0.1:1", "", "server.listen"},
    {"server", "auth", "auth: none", "", NULL},
    {"server", "max_body", "max_body: 1KiB", "", "server.max_body"},
    {"server", "body_memory", "body_memory: 1MiB", "", "server.body_memory"},
    {"server", "drain", "drain: 1s", "", NULL},
    {"server", "jq_timeout", "jq_timeout: 1ms", "", "server.jq_timeout"},
    {"server", "payloads", "payloads: hidden", "", "server.payloads"},
    {"server", "log", "log: json", "", NULL},
    {"server", "log_level", "log_level: debug", "", NULL},
#ifdef IMPOUND_OTLP
    {"server", "telemetry", "telemetry: {otlp: \"http://h\"}", "", "server.telemetry"},
    {"telemetry", "otlp", "otlp: \"http://h\"", "otlp: \"http://i\"", "server.telemetry"},
    {"telemetry", "headers", "otlp: \"http://h\", headers: {a: b}", "otlp: \"http://h\"",
     "server.telemetry"},
    {"telemetry", "ca", "otlp: \"http://h\", ca: a.pem", "otlp: \"http://h\"", "server.telemetry"},
    {"telemetry", "service", "otlp: \"http://h\", service: s", "otlp: \"http://h\"",
     "server.telemetry"},
    {"telemetry", "sample", "otlp: \"http://h\", sample: 3%", "otlp: \"http://h\"",
     "server.telemetry"},
#endif
#ifdef IMPOUND_REDIS
    {"queue", "source", "handler: lease, source: \"redis://h/0?list=a\"", "handler: lease",
     "queues.q.source"},
#endif
    {"queue", "handler", "handler: {exec: [a]}", "handler: {exec: [b]}", HANDLER},
    {"queue", "fallback", "handler: {exec: [a]}, fallback: [{exec: [b]}]", "handler: {exec: [a]}",
     HANDLER},
    {"queue", "concurrency", "handler: {exec: [a]}, concurrency: 3", "handler: {exec: [a]}", NULL},
    {"queue", "classify", "handler: lease, classify: {presets: [http]}", "handler: lease", NULL},
    {"queue", "retry", "handler: lease, retry: {attempts: 2}", "handler: lease", NULL},
    {"queue", "breaker", "handler: lease, breaker: off", "handler: lease", NULL},
    {"queue", "poison", "handler: lease, poison: {crashes: 9}", "handler: lease", NULL},
    {"queue", "expire", "handler: lease, expire: 1h", "handler: lease", NULL},
    {"queue", "flood", "handler: lease, flood: off", "handler: lease", NULL},
    {"queue", "runbook", "handler: lease, runbook: r", "handler: lease", NULL},
    {"queue", "dlq", "handler: lease, dlq: {route: {bug: d}}", "handler: lease", NULL},
    {"queue", "order", "handler: lease, order: key", "handler: lease", "queues.q.order"},
    {"queue", "on_dead", "handler: lease, order: key, on_dead: continue",
     "handler: lease, order: key", NULL},
    {"queue", "blocked_limit", "handler: lease, order: key, blocked_limit: 3",
     "handler: lease, order: key", NULL},
    {"queue", "idempotency", "handler: lease, idempotency: {header: a}", "handler: lease", NULL},
    {"queue", "replay", "handler: lease, replay: {max_lag: 3}", "handler: lease", NULL},
    {"queue", "compensate", "handler: {exec: [a]}, compensate: {exec: [b]}", "handler: {exec: [a]}",
     "queues.q.compensate"},
    {"handler", "http", "http: \"http://i\"", HTTP, HANDLER},
    {"handler", "exec", "exec: [a]", "exec: [a, b]", HANDLER},
    {"handler", "lease", "lease: {}, reply: {store: 1h}", HTTP, HANDLER},
    {"handler", "timeout", HTTP ", timeout: 1s", HTTP, HANDLER},
    {"handler", "headers", HTTP ", headers: {a: b}", HTTP ", headers: {a: c}", HANDLER},
    {"handler", "ca", HTTP ", ca: a.pem", HTTP, HANDLER},
    {"handler", "mode", "exec: [a], mode: stream", "exec: [a]", HANDLER},
    {"handler", "workers", "exec: [a], mode: stream, workers: 7", "exec: [a], mode: stream",
     HANDLER},
    {"handler", "max_messages", "exec: [a], mode: stream, max_messages: 7",
     "exec: [a], mode: stream", HANDLER},
    {"handler", "batch", HTTP ", batch: 2", HTTP, HANDLER},
    {"handler", "edit", HTTP ", edit: .a", HTTP, HANDLER},
    {"handler", "version", HTTP ", version: v", HTTP, HANDLER},
    {"handler", "reply", HTTP ", reply: {store: 1h}", HTTP, HANDLER},
    {"reply", "store", "store: 1h", "store: 2h", HANDLER},
    {"classify", "presets", "presets: [errors]", "", NULL},
    {"classify", "rules", "rules: [{when: {}, do: retry}]", "", NULL},
    {"classify", "answers", "answers: [{when: {}, do: retry}]", "", NULL},
    {"rule", "when", "do: retry, when: {status: 404}", "do: retry, when: {}", NULL},
    {"rule", "do", "when: {}, do: halt", "when: {}, do: retry", NULL},
    {"rule", "category", "when: {}, do: retry, category: c", "when: {}, do: retry", NULL},
    {"rule", "reason", "when: {}, do: retry, reason: r", "when: {}, do: retry", NULL},
    {"rule", "dlq", "when: {}, do: retry, dlq: d", "when: {}, do: retry", NULL},
    {"when", "status", "status: [404, 5xx]", "", NULL},
    {"when", "kind", "kind: [dns, tls]", "", NULL},
    {"when", "error_type", "error_type: E", "", NULL},
    {"when", "message", "message: m", "", NULL},
    {"when", "exit_code", "exit_code: 3", "", NULL},
    {"when", "signal", "signal: SIGKILL", "", NULL},
    {"when", "attempt", "attempt: 2-3", "", NULL},
    {"when", "header", "header: {a: b}", "", NULL},
    {"when", "jq", "jq: .a", "", NULL},
    {"answer rule", "when", "do: retry, when: {status: 404}", "do: retry, when: {}", NULL},
    {"answer rule", "do", "when: {}, do: halt", "when: {}, do: retry", NULL},
    {"answer rule", "category", "when: {}, do: retry, category: c", "when: {}, do: retry", NULL},
    {"answer rule", "reason", "when: {}, do: retry, reason: r", "when: {}, do: retry", NULL},
    {"answer rule", "dlq", "when: {}, do: retry, dlq: d", "when: {}, do: retry", NULL},
    {"when of an answer rule", "status", "status: 204", "", NULL},
    {"when of an answer rule", "header", "header: a", "", NULL},
    {"when of an answer rule", "body", "body: b", "", NULL},
    {"when of an answer rule", "jq", "jq: .a", "", NULL},
    {"when of an answer rule", "empty", "empty: true", "", NULL},
    {"retry", "attempts", "attempts: 2", "", NULL},
    {"retry", "base", "base: 1ms", "", NULL},
    {"retry", "cap", "cap: 1h", "", NULL},
    {"retry", "jitter", "jitter: none", "", NULL},
    {"retry", "backoff", "backoff: fixed", "", NULL},
    {"retry", "delays", "delays: [1s, 2s]", "", NULL},
    {"retry", "max_age", "max_age: 3d", "", NULL},
    {"retry", "retry_after_cap", "retry_after_cap: 0", "", NULL},
    {"retry", "budget", "budget: off", "", NULL},
    {"retry", "budget_floor", "budget_floor: 0.125/s", "", NULL},
    {"breaker", "failure_rate", "failure_rate: 33.3%", "", NULL},
    {"breaker", "window", "window: 1m", "", NULL},
    {"breaker", "min_attempts", "min_attempts: 2", "", NULL},
    {"breaker", "consecutive", "consecutive: 9", "", NULL},
    {"breaker", "open", "open: 5s", "", NULL},
    {"flood", "share", "share: 66.6%", "", NULL},
    {"flood", "of", "of: 7", "", NULL},
    {"flood", "window", "window: 90s", "", NULL},
    {"flood", "then", "then: hold", "", NULL},
    {"poison", "crashes", "crashes: 1", "", NULL},
    {"poison", "deliveries", "deliveries: 2", "", NULL},
    {"dlq", "cap", "cap: 9", "", NULL},
    {"dlq", "on_full", "archive: \"file:a\", on_full: spill", "archive: \"file:a\"", NULL},
    {"dlq", "owner", "owner: o", "", NULL},
    {"dlq", "runbook", "runbook: r", "", NULL},
    {"dlq", "archive", "archive: \"file:a\"", "", NULL},
    {"dlq", "max_replays", "max_replays: 0", "", NULL},
#ifdef IMPOUND_REDIS
    {"dlq", "mirror", "mirror: \"redis://h/0?list=a\"", "", "queues.q.dlq.mirror"},
#endif
    {"dlq", "fresh", "fresh: {within: 1h}", "", NULL},
    {"dlq", "retention", "retention: {resolved: 1d}", "", NULL},
    {"dlq", "triage", "triage: [{do: replay}]", "", NULL},
    {"dlq", "route", "route: {bug: d}", "", NULL},
    {"fresh", "within", "within: 1h", "", NULL},
    {"fresh", "check", "check: {exec: [a]}", "", "queues.q.dlq.fresh.check"},
    {"fresh", "hash", "check: {exec: [a]}, hash: .h", "check: {exec: [a]}", NULL},
    {"retention", "unresolved", "unresolved: 1d", "", NULL},
    {"retention", "resolved", "resolved: 1d", "", NULL},
    {"retention", "discarded", "discarded: never", "", NULL},
    {"triage rule", "when", REPLAY ", when: {category: c}", REPLAY, NULL},
    {"triage rule", "do", "do: escalate", REPLAY, NULL},
    {"triage rule", "every", REPLAY ", every: 1h", REPLAY, NULL},
    {"triage rule", "limit", REPLAY ", limit: 7", REPLAY, NULL},
    {"triage rule", "lifetime", REPLAY ", lifetime: 2d", REPLAY, NULL},
    {"triage rule", "edit", REPLAY ", edit: .a", REPLAY, NULL},
    {"triage rule", "rate", REPLAY ", rate: 3/s", REPLAY, NULL},
    {"triage rule", "canary", REPLAY ", canary: [1, 10]", REPLAY, NULL},
    {"triage rule", "to", "do: escalate, to: [p]", "do: escalate", NULL},
    {"triage rule", "backoff", REPLAY ", backoff: 5h", REPLAY, NULL},
    {"triage rule", "stop_after", REPLAY ", stop_after: 9", REPLAY, NULL},
    {"when of a triage rule", "category", "category: c", "", NULL},
    {"when of a triage rule", "reason", "reason: r", "", NULL},
    {"when of a triage rule", "cause", "cause: exhausted", "", NULL},
    {"when of a triage rule", "error_type", "error_type: E", "", NULL},
    {"when of a triage rule", "fingerprint", "fingerprint: 9f2c51d06a4b7e13", "", NULL},
    {"when of a triage rule", "key", "key: k", "", NULL},
    {"when of a triage rule", "task_type", "task_type: t", "", NULL},
    {"when of a triage rule", "age", "age: 90s", "", NULL},
    {"when of a triage rule", "replays", "replays: 1-2", "", NULL},
    {"when of a triage rule", "attempts", "attempts: 3", "", NULL},
    {"when of a triage rule", "where", "where: .a", "", NULL},
    {"replay", "max_lag", "max_lag: 3", "", NULL},
    {"dlqs", "cap", "cap: 9", "", NULL},
    {"dlqs", "on_full", "archive: \"file:a\", on_full: spill", "archive: \"file:a\"", NULL},
    {"dlqs", "owner", "owner: o", "", NULL},
    {"dlqs", "runbook", "runbook: r", "", NULL},
    {"dlqs", "archive", "archive: \"file:a\"", "", NULL},
    {"dlqs", "max_replays", "max_replays: 0", "", NULL},
#ifdef IMPOUND_REDIS
    {"dlqs", "mirror", "mirror: \"redis://h/0?list=a\"", "", "queues.q.dlq.mirror"},
#endif
    {"dlqs", "fresh", "fresh: {check: {exec: [a]}}", "", "queues.q.dlq.fresh.check"},
    {"dlqs", "retention", "retention: {resolved: 1d}", "", NULL},
    {"dlqs", "triage", "triage: [{do: replay}]", "", NULL},
    {"idempotency", "key", "key: .id", "key: .other", NULL},
    {"idempotency", "header", "header: a", "header: b", NULL},
    {"idempotency", "dedupe", "key: .id, dedupe: 1h", "key: .id", NULL},
#ifdef IMPOUND_REDIS
    {"adopt", "name", ADOPTED ", name: n", ADOPTED, "adopt"},
    {"adopt", "source", ADOPTED ", name: n", "source: \"redis://h/0?list=b\", name: n", "adopt"},
    {"adopt", "dlq", ADOPTED ", dlq: d", ADOPTED, "adopt"},
    {"adopt", "mode", ADOPTED ", mode: take", ADOPTED, "adopt"},
    {"adopt", "queue", ADOPTED ", queue: a b", ADOPTED, "adopt"},
#endif
    {"alerts", "to", "to: [{name: p, slack: \"http://h\"}]", "", "alerts"},
    {"alerts", "rules", "rules: [{" ALERT "}]", "", "alerts"},
    {"alerts", "defaults", "defaults: off", "", "alerts"},
    {"receiver", "name", "slack: \"http://h\"", "slack: \"http://i\"", "alerts"},
    {"receiver", "webhook", "webhook: \"http://h\"", "slack: \"http://h\"", "alerts"},
    {"receiver", "slack", "slack: \"http://h\"", "webhook: \"http://h\"", "alerts"},
    {"receiver", "pagerduty", "pagerduty: \"${HOME}\"", "slack: \"http://h\"", "alerts"},
    {"receiver", "alertmanager", "alertmanager: \"http://h\"", "slack: \"http://h\"", "alerts"},
    {"receiver", "url", "pagerduty: \"${HOME}\", url: \"http://h\"", "pagerduty: \"${HOME}\"",
     "alerts"},
    {"receiver", "headers", "webhook: \"http://h\", headers: {a: b}", "webhook: \"http://h\"",
     "alerts"},
    {"receiver", "secret", "webhook: \"http://h\", secret: \"${HOME}\"", "webhook: \"http://h\"",
     "alerts"},
    {"receiver", "severity", "slack: \"http://h\", severity: critical", "slack: \"http://h\"",
     "alerts"},
    {"receiver", "queue", "slack: \"http://h\", queue: a*", "slack: \"http://h\"", "alerts"},
    {"receiver", "dlq", "slack: \"http://h\", dlq: a*", "slack: \"http://h\"", "alerts"},
    {"receiver", "owner", "slack: \"http://h\", owner: o", "slack: \"http://h\"", "alerts"},
    {"alert rule", "name", "name: b, metric: dlq_depth, above: 1", ALERT, "alerts"},
    {"alert rule", "metric", "name: a, metric: success_ratio, above: 1", ALERT, "alerts"},
    {"alert rule", "dlq", ALERT ", dlq: a*", ALERT, "alerts"},
    {"alert rule", "queue", "name: a, metric: success_ratio, above: 1, queue: a*",
     "name: a, metric: success_ratio, above: 1", "alerts"},
    {"alert rule", "above", "name: a, metric: dlq_depth, above: 2", ALERT, "alerts"},
    {"alert rule", "below", "name: a, metric: dlq_depth, below: 1", ALERT, "alerts"},
    {"alert rule", "for", ALERT ", for: 1m", ALERT, "alerts"},
    {"alert rule", "severity", ALERT ", severity: info", ALERT, "alerts"},
    {"alert rule", "repeat", ALERT ", repeat: 1h", ALERT, "alerts"},
    {"alert rule", "to", ALERT ", to: [p]", ALERT, "alerts"},
    {"alert rule", "runbook", ALERT ", runbook: r", ALERT, "alerts"},
};

static struct config *parsed(struct bytes yaml) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    if (config_parse(yaml, "/etc/impound.yaml", &config, &mistakes) != STATUS_OK)
        fail_msg("%s\n%.*s", buf_cstr(&mistakes), BYTES_ARG(yaml));
    buf_free(&mistakes);
    return config;
}

static struct config *parsed_in(const char *mapping, const char *body) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(places[i].mapping, mapping) != 0)
            continue;
        struct buf yaml;
        buf_init_heap(&yaml, 1 << 16);
        buf_printf(&yaml, "%s%s%s", places[i].before, body, places[i].behind);
        struct config *config = parsed(buf_view(&yaml));
        buf_free(&yaml);
        return config;
    }
    fail_msg("no place for a mapping of %s", mapping);
    return NULL;
}

static const char *printed(const struct config *config, struct buf *out) {
    buf_init_heap(out, 1 << 20);
    config_print(config, out);
    return buf_cstr(out);
}

static void assert_told(const struct config *old, const struct config *new, const char *told) {
    char expected[128] = "";
    struct buf out;
    buf_init_heap(&out, 1 << 16);
    config_restart_needed(old, new, &out);
    if (told)
        snprintf(expected, sizeof expected, "%s changed: restart to apply\n", told);
    assert_string_equal(buf_cstr(&out), expected);
    buf_free(&out);
}

static void run_sample(const struct sample *sample) {
    struct config *with = parsed_in(sample->mapping, sample->with);
    struct config *without = parsed_in(sample->mapping, sample->without);
    struct buf text, other, again;
    char key[64];
    snprintf(key, sizeof key, "%s:", sample->key);
    if (!strstr(printed(with, &text), key))
        fail_msg("%s of %s is not printed:\n%s", sample->key, sample->mapping, buf_cstr(&text));
    assert_string_not_equal(buf_cstr(&text), printed(without, &other));
    struct config *back = parsed(buf_view(&text));
    assert_string_equal(printed(back, &again), buf_cstr(&text));
    assert_told(with, back, NULL);
    assert_told(without, with, sample->told);
    assert_told(with, without, sample->told);
    buf_free(&text);
    buf_free(&other);
    buf_free(&again);
    config_free(with);
    config_free(without);
    config_free(back);
}

static void every_sample_is_printed_read_back_and_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        run_sample(&samples[i]);
}

static bool has_sample(const char *mapping, const char *key) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (strcmp(samples[i].mapping, mapping) == 0 && strcmp(samples[i].key, key) == 0)
            return true;
    return false;
}

/* Where a build has no Redis or no protobuf-c, their keys cannot be tried. */
#if defined IMPOUND_REDIS && defined IMPOUND_OTLP
static void every_key_has_a_sample(void **state) {
    (void)state;
#define ASSERT_SAMPLED(mapping, table)                                                             \
    for (size_t i = 0; i < (table).count; i++)                                                     \
        if ((table).fields[i].read && !has_sample(mapping, (table).fields[i].name))                \
            fail_msg("no sample of %s of %s", (table).fields[i].name, mapping);
    CONFIG_TABLES(ASSERT_SAMPLED)
}
#endif

/* Keys of the same mapping that change together are told together, each once. */
static void a_key_of_several_dlqs_is_told_once(void **state) {
    (void)state;
    struct config *old = parsed_in("dlq", "route: {bug: d}");
    struct config *new = parsed_in("dlq", "route: {bug: d}, fresh: {check: {exec: [a]}}");
    assert_int_equal(new->dlq_count, 2);
    assert_told(old, new, "queues.q.dlq.fresh.check");
    config_free(old);
    config_free(new);
}

/* The printed form masks a secret; a reload sees that it changed. */
static void another_secret_is_a_change(void **state) {
    (void)state;
    struct config *old = parsed_in("receiver", "webhook: \"http://h\", secret: one");
    struct config *new = parsed_in("receiver", "webhook: \"http://h\", secret: two");
    struct buf before, after;
    assert_string_equal(printed(old, &before), printed(new, &after));
    assert_told(old, new, "alerts");
    buf_free(&before);
    buf_free(&after);
    config_free(old);
    config_free(new);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_printed_read_back_and_told),
#if defined IMPOUND_REDIS && defined IMPOUND_OTLP
        cmocka_unit_test(every_key_has_a_sample),
#endif
        cmocka_unit_test(a_key_of_several_dlqs_is_told_once),
        cmocka_unit_test(another_secret_is_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
