/* Printing, and what a reload cannot apply. */
#include "test.h"

#include "config/table/config_json.h"
#include "base/json/json.h"

static struct config *parsed(struct bytes yaml) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    enum status status = config_parse(yaml, "/etc/impound.yaml", &config, &mistakes);
    if (status != STATUS_OK)
        fail_msg("%s\n%.*s", buf_cstr(&mistakes), BYTES_ARG(yaml));
    buf_free(&mistakes);
    return config;
}

static void print(struct bytes yaml, struct buf *out) {
    struct config *config = parsed(yaml);
    buf_init_heap(out, 1 << 20);
    config_print(config, out);
    assert_false(out->overflow);
    config_free(config);
}

static const char *const configs[] = {
    "queues: {q: {handler: {http: \"http://h\"}}}",
    "queues: {q: {handler: lease}, r: {handler: {lease: {}, reply: {store: 1h}}, concurrency: 3}}",
    "queues: {q: {handler: callback}}",
#ifdef IMPOUND_REDIS
    "adopt: [{name: legacy, source: \"redis://h/0?list=${HOME}\"}]",
    "queues: {q: {handler: lease}}\n"
    "adopt: [{name: \"off\", source: \"redis://h/0?list=a\", mode: take, dlq: q.dlq, queue: a b}]\n"
    "dlqs: {q.dlq: {owner: me}}",
#endif
    "queues: {\"off\": {handler: {exec: [\"./a b\", \"null\", \"\\\"x\\\"\\n\", \"3\", é]}}}",
    "server: {listen: \"[::1]:0\", auth: none, max_body: 1000, drain: 90s, jq_timeout: 50ms}\n"
    "store: sqlite:sub/i.db\n"
    "queues:\n"
    "  a:\n"
    "    handler: {http: \"http://h/\", timeout: 5s, ca: ca.pem, headers: {a: \"${HOME}\", b: "
    "\"$${x}\"}}\n"
    "    compensate: {exec: [undo], timeout: 7s}\n"
    "    fallback: [{exec: [x, y], edit: '.a = \"b\"', reply: {store: 36h}}, {http: "
    "\"https://i/\"}]\n"
    "    concurrency: 3\n"
    "    classify:\n"
    "      presets: [ai-api, http]\n"
    "      rules:\n"
    "        - {when: {status: [404, 5xx], kind: [dns, tls], error_type: A*, message: 'a\"b\\d', "
    "exit_code: [1, 2], signal: SIGKILL, attempt: 2-3, header: {x y: \"z*\"}, jq: '.a == \"b\"'}, "
    "do: retry, category: c, reason: r, dlq: a.other}\n"
    "        - {when: {header: x, attempt: 1, signal: 40}, do: halt}\n"
    "        - {when: {}, do: discard}\n"
    "    retry: {attempts: 2, base: 1ms, cap: 25h, jitter: equal, delays: [0, 10s], max_age: 3d, "
    "budget: 0.5%, budget_floor: 0.125/s, retry_after_cap: 0}\n"
    "    breaker: {failure_rate: 33.3%, window: 1m, min_attempts: 2, consecutive: 9, open: 5s}\n"
    "    poison: {crashes: 1, deliveries: 2}\n"
    "    flood: {share: 66.6%, of: 7, window: 90s, then: hold}\n"
    "    runbook: \"https://r/a b\"\n"
    "    dlq: {cap: 9, on_full: spill, owner: Team A, runbook: ask Ada, archive: \"file:x\", "
    "route: {my cat: s, yes: "
    "a.dlq}}\n"
    "    order: key\n"
    "    on_dead: continue\n"
    "    blocked_limit: 7\n"
    "    idempotency: {key: '.\"a b\"[0]', dedupe: 90m}\n"
    "  e: {handler: {exec: [c]}, order: none, idempotency: {header: X-Once}}\n"
    "  c: {handler: {exec: [c], mode: stream, workers: 7, max_messages: 9, batch: 5}}\n"
    "  d: {handler: {http: \"http://h\", batch: 100}}\n"
    "  b: {handler: {exec: [c]}, breaker: off, retry: {backoff: fixed, budget: off}, dlq: {route: "
    "{bug: s}}}\n"
    "dlqs:\n"
    "  s:\n"
    "    cap: 4\n"
    "    on_full: block\n"
    "    owner: b\n"
    "    runbook: c\n"
    "    archive: \"file:y\"\n"
    "    triage:\n"
    "      - {when: {category: c d, reason: r, cause: exhausted, error_type: E, fingerprint: "
    "9f2c51d06a4b7e13, key: \"${HOME}\", task_type: t u, age: 90s, replays: 1-2, attempts: 3, "
    "where: '.a == "
    "\"b\"'}, "
    "do: replay, every: 1h, limit: 7, lifetime: 2d, edit: '.a = \"b\"', rate: 15%, to: b, backoff: "
    "5h, stop_after: 9}\n"
    "      - {when: {replays: 3+}, do: escalate, to: [p, s]}\n"
    "      - {when: {replays: 0}, do: archive, every: 1s}\n"
    "      - {when: {age: 1d}, do: discard}\n"
    "      - {do: replay, rate: max}\n"
    "alerts:\n"
    "  defaults: off\n"
    "  to:\n"
    "    - {name: p, pagerduty: \"${HOME}\", url: \"http://h/\", severity: critical}\n"
    "    - {name: s, slack: \"http://h/x\", queue: \"a*\", dlq: a.dlq, owner: Team A}\n"
    "  rules:\n"
    "    - {name: A b, metric: success_ratio, queue: \"a*\", below: 0.95, for: 10m, to: [p, s]}\n"
    "    - {name: B, metric: dlq_depth, above: 100, severity: info, repeat: 1h}\n",
};

static void what_is_printed_reads_back_as_itself(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct buf once, twice;
        print(bytes_of(configs[i]), &once);
        print(buf_view(&once), &twice);
        assert_string_equal(buf_cstr(&once), buf_cstr(&twice));
        struct config *a = parsed(bytes_of(configs[i])), *b = parsed(buf_view(&once));
        struct buf difference;
        buf_init_heap(&difference, 1 << 16);
        config_restart_needed(a, b, &difference);
        assert_string_equal(buf_cstr(&difference), "");
        config_free(a);
        config_free(b);
        buf_free(&difference);
        buf_free(&once);
        buf_free(&twice);
    }
}

#if defined IMPOUND_REDIS && defined IMPOUND_KAFKA
static void no_password_of_a_url_is_printed(void **state) {
    (void)state;
    struct buf out;
    print(
        BYTES(
            "queues:\n"
            "  q:\n"
            "    source: \"kafka://me:s3cret@h/orders?group=g\"\n"
            "    handler: {http: \"http://me:s3cret@h/\", reply: \"redis://:s3cret@h/0?list=a\"}\n"
            "    dlq: {mirror: \"redis://me:s3cret@h/0?list=b\"}\n"
            "adopt: [{name: legacy, source: \"redis://:s3cret@h/0?list=c\"}]"),
        &out);
    assert_null(strstr(buf_cstr(&out), "s3cret"));
    static const char *const shown[] = {"kafka://***@h/orders?group=g", "http://***@h/",
                                        "redis://***@h/0?list=a", "redis://***@h/0?list=b",
                                        "redis://***@h/0?list=c"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_non_null(strstr(buf_cstr(&out), shown[i]));
    buf_free(&out);
}
#endif

/* JSON is YAML. */
static void what_is_printed_as_json_reads_back_as_itself(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct buf yaml, as_json, again;
        struct config *config = parsed(bytes_of(configs[i]));
        struct json value;
        buf_init_heap(&as_json, 1 << 20);
        config_json_print(config, &as_json);
        config_free(config);
        assert_int_equal(json_parse(buf_view(&as_json), &value, NULL), STATUS_OK);
        print(bytes_of(configs[i]), &yaml);
        print(buf_view(&as_json), &again);
        assert_string_equal(buf_cstr(&again), buf_cstr(&yaml));
        buf_free(&yaml);
        buf_free(&as_json);
        buf_free(&again);
    }
}

static void counts_are_numbers_in_json_and_texts_are_texts(void **state) {
    (void)state;
    struct config *config = parsed(BYTES("queues: {\"1\": {handler: {exec: [c, \"3\"]}}}"));
    struct buf out;
    buf_init_heap(&out, 1 << 20);
    config_json_print(config, &out);
    config_free(config);
    assert_non_null(strstr(buf_cstr(&out), "\"queues\":{\"1\":{"));
    assert_non_null(strstr(buf_cstr(&out), "\"exec\":[\"c\",\"3\"]"));
    assert_non_null(strstr(buf_cstr(&out), "\"concurrency\":32"));
    assert_non_null(strstr(buf_cstr(&out), "\"base\":\"200ms\""));
    buf_free(&out);
}

static void every_default_is_printed(void **state) {
    (void)state;
    struct buf out;
    print(bytes_of(configs[0]), &out);
    assert_string_equal(buf_cstr(&out), "server:\n"
                                        "  listen: \"127.0.0.1:7070\"\n"
                                        "  max_body: 4MiB\n"
                                        "  body_memory: 256MiB\n"
                                        "  drain: 10s\n"
                                        "  jq_timeout: 1s\n"
                                        "  payloads: shown\n"
                                        "  log: text\n"
                                        "  log_level: info\n"
                                        "  telemetry: off\n"
                                        "store: \"sqlite:/etc/impound.db\"\n"
                                        "queues:\n"
                                        "  q:\n"
                                        "    source: builtin\n"
                                        "    handler: {http: \"http://h\", timeout: 30s}\n"
                                        "    concurrency: 32\n"
                                        "    classify:\n"
                                        "      presets: [http]\n"
                                        "    retry:\n"
                                        "      attempts: 5\n"
                                        "      base: 200ms\n"
                                        "      cap: 30s\n"
                                        "      jitter: full\n"
                                        "      backoff: exponential\n"
                                        "      max_age: 24h\n"
                                        "      retry_after_cap: 1h\n"
                                        "      budget: 20%\n"
                                        "      budget_floor: 3/s\n"
                                        "    breaker:\n"
                                        "      failure_rate: 50%\n"
                                        "      window: 10s\n"
                                        "      min_attempts: 20\n"
                                        "      consecutive: 5\n"
                                        "      open: 30s\n"
                                        "    poison:\n"
                                        "      crashes: 3\n"
                                        "      deliveries: 10\n"
                                        "    flood:\n"
                                        "      share: 80%\n"
                                        "      of: 50\n"
                                        "      window: 1m\n"
                                        "      then: alert\n"
                                        "    order: none\n"
                                        "    replay:\n"
                                        "      max_lag: 1000\n"
                                        "dlqs: # every one that a queue can reach\n"
                                        "  q.dlq: {cap: 100000, on_full: block, "
                                        "max_replays: 3, retention: {unresolved: never, "
                                        "resolved: 30d, discarded: 30d}}\n"
                                        "alerts:\n"
                                        "  defaults: on\n");
    buf_free(&out);
}

static void a_secret_of_the_environment_is_not_printed(void **state) {
    (void)state;
    struct buf out;
    setenv("IMPOUND_TEST_SECRET", "hush", 1);
    print(BYTES("queues: {q: {handler: {http: \"http://h/${IMPOUND_TEST_SECRET}\", headers: "
                "{x-api-key: \"${IMPOUND_TEST_SECRET}\"}}}}"),
          &out);
    assert_null(strstr(buf_cstr(&out), "hush"));
    assert_non_null(strstr(buf_cstr(&out), "{x-api-key: \"${IMPOUND_TEST_SECRET}\"}"));
    buf_free(&out);
}

#define SMALL(top, queues) top "queues: {" queues "}\n"
#define HTTP(url)          "handler: {http: \"" url "\"}"

/* Who reads the output of check need not be who may read the file. */
static void keys_that_stand_in_the_file_are_not_printed(void **state) {
    (void)state;
    struct buf text;
    setenv("IMPOUND_TEST_SECRET", "s3cret", 1);
    print(BYTES("server: {telemetry: {otlp: \"http://h:4318\", headers: {Api-Token: s3cret}}}\n"
                "queues: {a: {handler: {http: \"http://h\", headers: {X-Api-Key: s3cret, "
                "authorization: \"Bearer ${IMPOUND_TEST_SECRET}\", plain: seen, "
                "Cookie: \"s3cret ${IMPOUND_TEST_SECRET}\"}}}}\n"
                "alerts: {to: [{name: p, pagerduty: s3cret}]}\n"),
          &text);
    unsetenv("IMPOUND_TEST_SECRET");
    assert_null(strstr(buf_cstr(&text), "s3cret"));
    static const char *const shown[] = {
        "Api-Token: \"***\"", "X-Api-Key: \"***\"", "pagerduty: \"***\"",
        "authorization: \"Bearer ${IMPOUND_TEST_SECRET}\", plain: seen", "Cookie: \"***\""};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_non_null(strstr(buf_cstr(&text), shown[i]));
    buf_free(&text);
}

static void what_needs_a_restart_is_told(void **state) {
    (void)state;
    static const struct {
        const char *new, *expected;
    } cases[] = {
        {SMALL("", "q: {" HTTP("http://h") "}"), ""},
        {SMALL("server: {drain: 1s}\n",
               "q: {" HTTP("http://h") ", concurrency: 3, retry: {attempts: 1}, dlq: {cap: 4, "
                                       "triage: [{do: replay}]}}"),
         ""},
        {SMALL("server: {log: json, log_level: debug, telemetry: off}\n",
               "q: {" HTTP("http://h") "}"),
         ""},
#ifdef IMPOUND_OTLP
        {SMALL("server: {telemetry: {otlp: \"http://h:4318\"}}\n", "q: {" HTTP("http://h") "}"),
         "server.telemetry changed: restart to apply\n"},
#endif
        {SMALL("server: {listen: 127.0.0.1:1, max_body: 1MiB, jq_timeout: 2s, payloads: "
               "hidden}\nstore: sqlite:b\n",
               "q: {" HTTP("http://h") "}"),
         "server.listen changed: restart to apply\n"
         "server.max_body changed: restart to apply\n"
         "server.jq_timeout changed: restart to apply\n"
         "server.payloads changed: restart to apply\n"
         "store changed: restart to apply\n"},
        {SMALL("", "q: {" HTTP("http://other") "}"),
         "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {handler: {exec: [a]}}"), "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {handler: lease}"), "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {handler: {http: \"http://h\", headers: {a: b}}}"),
         "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {" HTTP("http://h") ", compensate: {exec: [undo]}}"),
         "queues.q.compensate changed: restart to apply\n"},
        {SMALL("", "q: {" HTTP("http://h") ", fallback: [{http: \"http://h\"}]}"),
         "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {" HTTP("http://h") ", order: key}"),
         "queues.q.order changed: restart to apply\n"},
        {SMALL("", "q: {" HTTP("http://h") ", idempotency: {key: .id}}"), ""},
        {SMALL("", "q: {handler: {http: \"http://h\", edit: .a}}"),
         "queues.q.handler changed: restart to apply\n"},
        {SMALL("", "q: {handler: {http: \"http://h\", reply: {store: 1h}}}"),
         "queues.q.handler changed: restart to apply\n"},
#ifdef IMPOUND_REDIS
        {SMALL("adopt: [{name: a, source: \"redis://h/0?list=a\"}]\n", "q: {" HTTP("http://h") "}"),
         "adopt changed: restart to apply\n"},
#endif
        {SMALL("", "r: {" HTTP("http://h") "}"), "queues.q was removed: restart to apply\n"
                                                 "queues.r was added: restart to apply\n"},
    };
    struct config *old = parsed(BYTES(SMALL("", "q: {" HTTP("http://h") "}")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config *new = parsed(bytes_of(cases[i].new));
        struct buf out;
        buf_init_heap(&out, 1 << 16);
        config_restart_needed(old, new, &out);
        assert_string_equal(buf_cstr(&out), cases[i].expected);
        buf_free(&out);
        config_free(new);
    }
    config_free(old);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_reads_back_as_itself),
        cmocka_unit_test(what_is_printed_as_json_reads_back_as_itself),
#if defined IMPOUND_REDIS && defined IMPOUND_KAFKA
        cmocka_unit_test(no_password_of_a_url_is_printed),
#endif
        cmocka_unit_test(counts_are_numbers_in_json_and_texts_are_texts),
        cmocka_unit_test(every_default_is_printed),
        cmocka_unit_test(a_secret_of_the_environment_is_not_printed),
        cmocka_unit_test(keys_that_stand_in_the_file_are_not_printed),
        cmocka_unit_test(what_needs_a_restart_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
