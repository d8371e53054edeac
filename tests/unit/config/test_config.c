/* Good configurations: what is filled in, and with what. */
#include "test.h"

#include <stdio.h>

#include "config/config.h"
#include "base/tempdir.h"

static struct config *parsed(const char *yaml, const char *path) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    enum status status = config_parse(bytes_of(yaml), path, &config, &mistakes);
    if (status != STATUS_OK)
        fail_msg("%s", buf_cstr(&mistakes));
    buf_free(&mistakes);
    return config;
}

static void a_file_that_says_little_gets_the_defaults(void **state) {
    (void)state;
    struct config *config = parsed("queues: {q: {handler: {http: \"http://h/\"}}}", "/etc/i.yaml");
    assert_bytes(config->path, "/etc/i.yaml");
    assert_bytes(config->dir, "/etc");
    assert_bytes(config->listen_host, "127.0.0.1");
    assert_int_equal(config->listen_port, 7070);
    assert_false(config->auth_none);
    assert_int_equal(config->max_body, 4 * 1024 * 1024);
    assert_int_equal(config->drain_ms, 10000);
    assert_int_equal(config->jq_timeout_ms, 1000);
    assert_bytes(config->store_path, "/etc/impound.db");
    assert_int_equal(config->queue_count, 1);
    const struct config_queue *queue = &config->queues[0];
    assert_bytes(queue->name, "q");
    assert_bytes(queue->source, "builtin");
    assert_int_equal(queue->line, 1);
    assert_int_equal(queue->concurrency, 32);
    assert_int_equal(queue->handler_count, 1);
    assert_int_equal(queue->handlers[0].kind, HANDLER_HTTP);
    assert_int_equal(queue->handlers[0].timeout_ms, 30000);
    assert_bytes(queue->handlers[0].url, "http://h/");
    assert_int_equal(queue->dlq_count, 1);
    assert_bytes(queue->dlqs[0].name, "q.dlq");
    assert_int_equal(queue->dlqs[0].cap, 100000);
    assert_int_equal(queue->dlqs[0].on_full, ON_FULL_BLOCK);
    config_free(config);
}

static void a_policy_that_is_not_given_is_the_one_of_the_design(void **state) {
    (void)state;
    struct config *config = parsed("queues: {q: {handler: {http: \"http://h/\"}}}", "i.yaml");
    const struct policy *policy = &config->queues[0].policy;
    assert_bytes(policy->queue, "q");
    assert_bytes(policy->dlq, "q.dlq");
    assert_int_equal(policy->handler, HANDLER_HTTP);
    assert_int_equal(policy->preset_count, 1);
    assert_int_equal(policy->presets[0], PRESET_HTTP);
    assert_int_equal(policy->rule_count, 0);
    assert_int_equal(policy->retry.attempts, 5);
    assert_int_equal(policy->retry.base_ms, 200);
    assert_int_equal(policy->retry.cap_ms, 30000);
    assert_int_equal(policy->retry.max_age_ms, 86400000);
    assert_int_equal(policy->retry.budget_permille, 200);
    assert_int_equal(policy->retry.budget_floor_permille, 3000);
    assert_int_equal(policy->breaker.failure_permille, 500);
    assert_int_equal(policy->breaker.consecutive, 5);
    assert_int_equal(policy->poison.crashes, 3);
    assert_int_equal(policy->poison.deliveries, 10);
    config_free(config);
}

static void presets_follow_the_handler_wherever_it_stands(void **state) {
    (void)state;
    struct config *config = parsed("queues:\n"
                                   "  a: {retry: {attempts: 2}, handler: {exec: [./a, b]}}\n"
                                   "  b: {classify: {presets: []}, handler: {exec: [./b]}}\n"
                                   "  c: {classify: {presets: [ai-api, errors]}, handler: "
                                   "{http: \"https://h\"}}\n",
                                   "i.yaml");
    const struct config_queue *a = &config->queues[0], *b = &config->queues[1],
                              *c = &config->queues[2];
    assert_int_equal(a->policy.handler, HANDLER_EXEC);
    assert_int_equal(a->policy.preset_count, 2);
    assert_int_equal(a->policy.presets[0], PRESET_EXEC);
    assert_int_equal(a->policy.presets[1], PRESET_ERRORS);
    assert_int_equal(a->policy.retry.attempts, 2);
    assert_int_equal(a->handlers[0].argc, 2);
    assert_bytes(a->handlers[0].argv[0], "./a");
    assert_bytes(a->handlers[0].argv[1], "b");
    assert_int_equal(b->policy.preset_count, 0);
    assert_int_equal(b->line, 3);
    assert_int_equal(c->policy.preset_count, 2);
    assert_int_equal(c->policy.presets[0], PRESET_AI_API);
    config_free(config);
}

static void every_key_of_the_server_is_read(void **state) {
    (void)state;
    struct config *config =
        parsed("server: {listen: \"[::]:0\", auth: none, max_body: 64KiB, drain: "
               "0, jq_timeout: 250ms, payloads: hidden, log: json, log_level: warn}\n"
               "store: sqlite:/var/lib/i.db\n"
               "queues: {q: {handler: {http: \"http://u:p@[::1]:80/x?y#z\"}}}\n",
               "i.yaml");
    assert_bytes(config->listen_host, "::");
    assert_int_equal(config->listen_port, 0);
    assert_true(config->auth_none);
    assert_int_equal(config->max_body, 65536);
    assert_int_equal(config->drain_ms, 0);
    assert_int_equal(config->jq_timeout_ms, 250);
    assert_int_equal(config->payloads, PAYLOADS_HIDDEN);
    assert_int_equal(config->log, LOG_JSON);
    assert_int_equal(config->log_level, LOG_WARN);
    assert_bytes(config->store_path, "/var/lib/i.db");
    config_free(config);
}

static void loopback_addresses_need_no_auth(void **state) {
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "127.9.9.9", "[::1]", "localhost"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml,
                 "server: {listen: \"%s:80\"}\nqueues: {q: {handler: {http: \"http://h\"}}}",
                 hosts[i]);
        config_free(parsed(yaml, "i.yaml"));
    }
}

static void every_key_of_retry_breaker_and_poison_is_read(void **state) {
    (void)state;
    struct config *config = parsed(
        "queues:\n"
        "  a:\n"
        "    handler: {http: \"http://h\"}\n"
        "    concurrency: 7\n"
        "    retry: {attempts: 9, base: 1s, cap: 1m, jitter: decorrelated, backoff: fixed, "
        "max_age: "
        "2d, budget: 12.5%, budget_floor: 0.5/s, retry_after_cap: 10m}\n"
        "    breaker: {failure_rate: 75%, window: 20s, min_attempts: 4, consecutive: 6, open: 1m}\n"
        "    poison: {crashes: 2, deliveries: 4}\n"
        "    flood: {share: 90%, of: 7, window: 2m, then: hold}\n"
        "    runbook: https://runbooks/a\n"
        "    dlq: {runbook: https://runbooks/a.dlq}\n"
        "  b:\n"
        "    handler: {http: \"http://h\"}\n"
        "    retry: {delays: [0, 1s, 5s], budget: off, budget_floor: 5000/s}\n"
        "    breaker: off\n"
        "  c: {handler: lease, flood: off}\n",
        "i.yaml");
    const struct policy *a = &config->queues[0].policy, *b = &config->queues[1].policy;
    assert_int_equal(config->queues[0].concurrency, 7);
    assert_int_equal(a->retry.attempts, 9);
    assert_int_equal(a->retry.base_ms, 1000);
    assert_int_equal(a->retry.cap_ms, 60000);
    assert_int_equal(a->retry.jitter, JITTER_DECORRELATED);
    assert_int_equal(a->retry.shape, BACKOFF_FIXED);
    assert_int_equal(a->retry.max_age_ms, 172800000);
    assert_int_equal(a->retry.budget_permille, 125);
    assert_int_equal(a->retry.budget_floor_permille, 500);
    assert_int_equal(b->retry.budget_permille, BUDGET_OFF);
    assert_int_equal(b->retry.budget_floor_permille, 5000 * 1000);
    assert_int_equal(a->retry.retry_after_cap_ms, 600000);
    assert_false(a->breaker.off);
    assert_int_equal(a->breaker.failure_permille, 750);
    assert_int_equal(a->breaker.window_ms, 20000);
    assert_int_equal(a->breaker.min_attempts, 4);
    assert_int_equal(a->breaker.consecutive, 6);
    assert_int_equal(a->breaker.open_ms, 60000);
    assert_int_equal(a->poison.crashes, 2);
    assert_int_equal(a->poison.deliveries, 4);
    const struct flood_policy *flood = &config->queues[0].flood;
    assert_int_equal(flood->share_permille, 900);
    assert_int_equal(flood->of, 7);
    assert_int_equal(flood->window_ms, 120000);
    assert_int_equal(flood->then, FLOOD_HOLD);
    assert_int_equal(config->queues[1].flood.then, FLOOD_ALERT);
    assert_int_equal(config->queues[2].flood.then, FLOOD_OFF);
    assert_bytes(config->queues[0].runbook, "https://runbooks/a");
    assert_bytes(config->queues[0].dlqs[0].runbook, "https://runbooks/a.dlq");
    assert_int_equal(b->retry.shape, BACKOFF_LIST);
    assert_int_equal(b->retry.delay_count, 3);
    assert_int_equal(b->retry.delays_ms[0], 0);
    assert_int_equal(b->retry.delays_ms[2], 5000);
    assert_true(b->breaker.off);
    config_free(config);
}

static void assert_range(struct rule_range range, int from, int to) {
    assert_int_equal(range.from, from);
    assert_int_equal(range.to, to);
}

static void every_condition_of_a_rule_is_read(void **state) {
    (void)state;
    struct config *config = parsed(
        "queues:\n"
        "  q:\n"
        "    handler: {exec: [a]}\n"
        "    classify:\n"
        "      rules:\n"
        "        - {when: {status: [429, 5xx], kind: [timeout, dns], error_type: Key*, message: "
        "'^model .* gone$', exit_code: [1, 65], signal: SIGSEGV, attempt: 2-4, header: {region: "
        "eu-*}, jq: .a}, do: fallback, category: mine, reason: why, dlq: q.other}\n"
        "        - {when: {status: 404, kind: reset, exit_code: 3, signal: 9, attempt: 1, header: "
        "x-test}, do: halt}\n"
        "        - {when: {}, do: discard, category: bug}\n",
        "i.yaml");
    const struct policy *policy = &config->queues[0].policy;
    assert_int_equal(policy->rule_count, 3);
    const struct rule *a = &policy->rules[0], *b = &policy->rules[1], *c = &policy->rules[2];
    assert_bytes(a->name, "q.rules[0]");
    assert_int_equal(a->when.status_count, 2);
    assert_range(a->when.statuses[0], 429, 429);
    assert_range(a->when.statuses[1], 500, 599);
    assert_int_equal(a->when.kinds, 1u << KIND_TIMEOUT | 1u << KIND_DNS);
    assert_bytes(a->when.error_type, "Key*");
    assert_bytes(a->when.message, "^model .* gone$");
    assert_int_equal(a->when.exit_code_count, 2);
    assert_range(a->when.exit_codes[1], 65, 65);
    assert_range(a->when.signals, 11, 11);
    assert_range(a->when.attempts, 2, 4);
    assert_bytes(a->when.header_name, "region");
    assert_bytes(a->when.header_value, "eu-*");
    assert_bytes(a->when.jq, ".a");
    assert_int_equal(a->verdict, VERDICT_FALLBACK);
    assert_bytes(a->category, "mine");
    assert_bytes(a->reason, "why");
    assert_bytes(a->dlq, "q.other");
    assert_range(b->when.statuses[0], 404, 404);
    assert_range(b->when.signals, 9, 9);
    assert_range(b->when.attempts, 1, 1);
    assert_bytes(b->when.header_name, "x-test");
    assert_int_equal(b->when.header_value.len, 0);
    assert_int_equal(b->verdict, VERDICT_HALT);
    assert_bytes(b->category, "unknown");
    assert_bytes(c->name, "q.rules[2]");
    assert_int_equal(c->verdict, VERDICT_DISCARD);
    assert_bytes(c->reason, "bug");
    config_free(config);
}

static void a_handler_and_its_fallbacks_are_one_list(void **state) {
    (void)state;
    struct config *config =
        parsed("queues:\n"
               "  q:\n"
               "    fallback: [{http: \"http://b\", timeout: 5s}, {exec: [c]}]\n"
               "    handler: {http: \"http://a\", headers: {x-one: \"1\", X-Two: b}, ca: ca.pem}\n",
               "/etc/i.yaml");
    const struct config_queue *queue = &config->queues[0];
    assert_int_equal(queue->handler_count, 3);
    assert_bytes(queue->handlers[0].url, "http://a");
    assert_int_equal(queue->handlers[0].header_count, 2);
    assert_bytes(queue->handlers[0].headers[1].name, "X-Two");
    assert_bytes(queue->handlers[0].headers[1].value, "b");
    assert_bytes(queue->handlers[0].ca_file, "/etc/ca.pem");
    assert_bytes(queue->handlers[1].url, "http://b");
    assert_int_equal(queue->handlers[1].timeout_ms, 5000);
    assert_int_equal(queue->handlers[2].kind, HANDLER_EXEC);
    config_free(config);
}

static void a_fallback_keeps_answers_like_its_handler_unless_it_says_otherwise(void **state) {
    (void)state;
    struct config *config =
        parsed("queues:\n"
               "  q:\n"
               "    fallback: [{exec: [b], edit: .a}, {exec: [c], reply: {store: 2h}}]\n"
               "    handler: {exec: [a], reply: {store: 1h}}\n",
               "i.yaml");
    const struct config_handler *handlers = config->queues[0].handlers;
    assert_int_equal(handlers[0].reply.store_ms, 3600 * 1000);
    assert_int_equal(handlers[1].reply.store_ms, 3600 * 1000);
    assert_int_equal(handlers[2].reply.store_ms, 7200 * 1000);
    assert_int_equal(handlers[0].edit.len, 0);
    assert_bytes(handlers[1].edit, ".a");
    assert_bytes(config->programs->text, ".a");
    assert_null(config->programs->next);
    config_free(config);
}

static void a_queue_knows_every_dlq_that_it_can_reach(void **state) {
    (void)state;
    struct config *config =
        parsed("dlqs: {q.bad: {cap: 7, owner: b}, q.bug: {on_full: block}}\n"
               "queues:\n"
               "  q:\n"
               "    handler: {http: \"http://h\"}\n"
               "    dlq: {cap: 5, on_full: spill, owner: a, archive: \"file:archive/\", route: "
               "{validation: q.bad, bug: q.bug, crash: q.bad}}\n"
               "    classify: {rules: [{when: {}, do: dlq, dlq: q.rest}, {when: {}, do: dlq, dlq: "
               "q.dlq}]}\n",
               "i.yaml");
    const struct config_queue *queue = &config->queues[0];
    static const struct {
        const char *name;
        uint64_t cap;
        enum on_full on_full;
        const char *owner;
    } expected[] = {{"q.dlq", 5, ON_FULL_SPILL, "a"},
                    {"q.bad", 7, ON_FULL_SPILL, "b"},
                    {"q.bug", 5, ON_FULL_BLOCK, "a"},
                    {"q.rest", 5, ON_FULL_SPILL, "a"}};
    assert_int_equal(queue->dlq_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_bytes(queue->dlqs[i].name, expected[i].name);
        assert_int_equal(queue->dlqs[i].cap, expected[i].cap);
        assert_int_equal(queue->dlqs[i].on_full, expected[i].on_full);
        assert_bytes(queue->dlqs[i].owner, expected[i].owner);
        assert_bytes(queue->dlqs[i].archive, "file:archive/");
    }
    assert_int_equal(queue->policy.route_count, 3);
    assert_bytes(queue->policy.routes[2].category, "crash");
    assert_bytes(queue->policy.routes[2].dlq, "q.bad");
    config_free(config);
}

static void every_key_of_a_triage_rule_is_read(void **state) {
    (void)state;
    struct config *config = parsed(
        "dlqs: {q.bad: {triage: []}, q.bug: {triage: [{do: escalate, when: {replays: 3+}, to: "
        "p}]}}\n"
        "alerts: {to: [{name: p, webhook: \"http://h/\"}]}\n"
        "queues:\n"
        "  q:\n"
        "    handler: {http: \"http://h\"}\n"
        "    dlq:\n"
        "      route: {validation: q.bad, bug: q.bug}\n"
        "      triage:\n"
        "        - {when: {category: transient}, do: replay}\n"
        "        - {when: {category: c, reason: r, cause: crash, error_type: E, fingerprint: "
        "'00000000000000ff', key: k, age: 2m, replays: 1-2, attempts: 4, where: .a}, do: replay, "
        "every: 3m, limit: 5, lifetime: 6m, edit: .b, rate: 7/s, to: q, backoff: 8m, stop_after: "
        "9}\n",
        "i.yaml");
    const struct config_queue *queue = &config->queues[0];
    assert_int_equal(queue->triage[0].rules.count, 2);
    assert_int_equal(queue->triage[1].rules.count, 0);
    assert_int_equal(queue->triage[2].rules.count, 1);
    const struct triage_rule *plain = &queue->triage[0].rules.list[0], *full = plain + 1;
    assert_bytes(plain->when.category, "transient");
    assert_int_equal(plain->every_ms, 15 * 60 * 1000);
    assert_int_equal(plain->limit, 50);
    assert_int_equal(plain->lifetime_ms, 24 * 3600 * 1000);
    assert_int_equal(plain->stop_after, 3);
    const struct triage_when *when = &full->when;
    assert_bytes(when->reason, "r");
    assert_bytes(when->error_type, "E");
    assert_bytes(when->key, "k");
    assert_bytes(when->where, ".a");
    assert_true(when->has_cause && when->cause == CAUSE_CRASH);
    assert_true(when->has_fingerprint && when->fingerprint == 0xff);
    assert_int_equal(when->age_ms, 2 * 60 * 1000);
    assert_int_equal(when->replays_least, 1);
    assert_int_equal(when->replays_most, 2);
    assert_int_equal(when->attempts, 4);
    assert_int_equal(full->every_ms, 3 * 60 * 1000);
    assert_int_equal(full->limit, 5);
    assert_int_equal(full->lifetime_ms, 6 * 60 * 1000);
    assert_int_equal(full->backoff_ms, 8 * 60 * 1000);
    assert_int_equal(full->stop_after, 9);
    assert_bytes(full->edit, ".b");
    assert_bytes(full->to, "q");
    assert_true(full->rate.kind == REPLAY_RATE_FIXED && full->rate.value == 7);
    const struct triage_rule *other = queue->triage[2].rules.list;
    assert_int_equal(other->action, TRIAGE_ESCALATE);
    assert_int_equal(other->when.replays_least, 3);
    assert_int_equal(other->tell_count, 1);
    assert_bytes(other->tell[0], "p");
    config_free(config);
}

static void queues_may_share_a_dlq_that_is_told_of_once(void **state) {
    (void)state;
    config_free(parsed("queues:\n"
                       "  a: {handler: {http: \"http://h\"}, dlq: {cap: 5, route: {bug: s}}}\n"
                       "  b: {handler: {http: \"http://h\"}, dlq: {cap: 6, route: {bug: s}}}\n"
                       "dlqs: {s: {cap: 7}}\n",
                       "i.yaml"));
}

static void the_environment_fills_in_names(void **state) {
    (void)state;
    setenv("IMPOUND_TEST_KEY", "k-1", 1);
    setenv("IMPOUND_TEST_ATTEMPTS", "8", 1);
    struct config *config =
        parsed("queues:\n"
               "  q:\n"
               "    handler: {http: \"http://h\", headers: {a: \"x${IMPOUND_TEST_KEY}y\", b: "
               "\"$${IMPOUND_TEST_KEY}\", c: \"$5 {a}\"}}\n"
               "    retry: {attempts: \"${IMPOUND_TEST_ATTEMPTS}\"}\n",
               "i.yaml");
    const struct config_queue *queue = &config->queues[0];
    assert_bytes(queue->handlers[0].headers[0].value, "xk-1y");
    assert_bytes(queue->handlers[0].headers[1].value, "${IMPOUND_TEST_KEY}");
    assert_bytes(queue->handlers[0].headers[2].value, "$5 {a}");
    assert_int_equal(queue->policy.retry.attempts, 8);
    config_free(config);
}

static void an_anchor_stands_for_what_it_names(void **state) {
    (void)state;
    struct config *config =
        parsed("queues:\n"
               "  a: {handler: &h {http: \"http://h\"}, retry: &r {attempts: 3}}\n"
               "  b: {handler: *h, retry: *r}\n",
               "i.yaml");
    assert_int_equal(config->queues[1].policy.retry.attempts, 3);
    assert_bytes(config->queues[1].handlers[0].url, "http://h");
    config_free(config);
}

static void a_file_is_read_from_its_folder(void **state) {
    (void)state;
    char dir[64], path[96], store[96];
    struct config *config;
    struct buf mistakes;
    buf_init_heap(&mistakes, 1 << 16);
    assert_int_equal(tempdir_make("/tmp", "impound-config", dir, sizeof dir, NULL), STATUS_OK);
    snprintf(path, sizeof path, "%s/impound.yaml", dir);
    snprintf(store, sizeof store, "%s/data/i.db", dir);
    assert_int_equal(config_load(path, &config, &mistakes), STATUS_NOT_FOUND);
    assert_null(config);
    buf_clear(&mistakes);
    FILE *file = fopen(path, "w");
    fputs("store: sqlite:data/i.db\nqueues: {q: {handler: {exec: [a]}}}\n", file);
    fclose(file);
    assert_int_equal(config_load(path, &config, &mistakes), STATUS_OK);
    assert_int_equal(mistakes.len, 0);
    assert_bytes(config->store_path, store);
    config_free(config);
    tempdir_remove(dir);
    buf_free(&mistakes);
}

static void off_may_be_written_as_yaml_1_1_writes_it(void **state) {
    (void)state;
    static const char *const words[][2] = {{"off", "on"}, {"false", "true"}, {"'off'", "'on'"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml,
                 "queues: {q: {handler: lease, breaker: %s}}\nalerts: {defaults: %s}", words[i][0],
                 words[i][0]);
        struct config *config = parsed(yaml, "i.yaml");
        assert_true(config->queues[0].policy.breaker.off);
        assert_true(config->alerts.no_defaults);
        config_free(config);
        snprintf(yaml, sizeof yaml, "queues: {q: {handler: lease}}\nalerts: {defaults: %s}",
                 words[i][1]);
        config = parsed(yaml, "i.yaml");
        assert_false(config->alerts.no_defaults);
        config_free(config);
    }
}

/* Each needs its client library, and the unit test of a build without one leaves it out. */
static const struct {
    const char *source, *name, *dlq;
} places[] = {
#ifdef IMPOUND_RABBITMQ
    {"amqp://u:p@h/v?queue=orders-dlq", "orders-dlq", "orders-dlq.dlq"},
#endif
#ifdef IMPOUND_KAFKA
    {"kafka://h:9092/orders.DLT?group=g", "orders.DLT", "orders.DLT.dlq"},
    {"kafka://h:9092/orders.DLT", "orders.DLT", "orders.DLT.dlq"},
#endif
#ifdef IMPOUND_NATS
    {"nats://h?stream=ORDERS_DLQ&consumer=c", "ORDERS_DLQ", "ORDERS_DLQ.dlq"},
    {"nats://h?stream=ORDERS_DLQ", "ORDERS_DLQ", "ORDERS_DLQ.dlq"},
#endif
#ifdef IMPOUND_REDIS
    {"redis://h/0?list=q:dlq", "q-dlq", "q-dlq.dlq"},
    {"redis://h/0?stream=orders.dlq&group=g", "orders.dlq", "orders.dlq.dlq"},
    {"redis://h/0?stream=orders.dlq", "orders.dlq", "orders.dlq.dlq"},
    {"redis://h/0?zset=dead", "dead", "dead.dlq"},
#endif
    {NULL, NULL, NULL},
};

static void a_place_to_adopt_from_is_called_as_its_url_says(void **state) {
    (void)state;
    for (size_t i = 0; places[i].source; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml, "adopt: [{source: \"%s\"}]", places[i].source);
        struct config *config = parsed(yaml, "i.yaml");
        assert_int_equal(config->adopt_count, 1);
        assert_bytes(config->adopts[0].entry.name, places[i].name);
        assert_bytes(config->adopts[0].entry.dlq, places[i].dlq);
        assert_int_equal(config->adopts[0].entry.mode, ADOPT_PEEK);
        config_free(config);
    }
}

static void a_nul_byte_is_not_the_end_of_the_file(void **state) {
    (void)state;
    struct config *config;
    struct buf mistakes;
    buf_init_heap(&mistakes, 1 << 16);
    struct bytes yaml = BYTES("store: sqlite:a\n\0queues: {}\n");
    assert_int_equal(config_parse(yaml, "i.yaml", &config, &mistakes), STATUS_INVALID);
    assert_string_equal(buf_cstr(&mistakes),
                        "i.yaml:2:1: this line has a NUL byte: expected text\n");
    config_free(config);
    buf_free(&mistakes);
}

static void what_is_not_yaml_is_told_with_its_line(void **state) {
    (void)state;
    static const char *const texts[] = {"a: 1\nqueues: {a: [}\n", "a: 1\nqueues: a: b\n",
                                        "a:\n\tb: 2\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct config *config;
        struct buf mistakes;
        buf_init_heap(&mistakes, 1 << 16);
        assert_int_equal(config_parse(bytes_of(texts[i]), "f.yaml", &config, &mistakes),
                         STATUS_INVALID);
        assert_true(bytes_starts(buf_view(&mistakes), BYTES("f.yaml:2:")));
        assert_non_null(strstr(buf_cstr(&mistakes), ": this is not YAML: "));
        config_free(config);
        buf_free(&mistakes);
    }
}

static void beyond_fifty_mistakes_are_only_counted(void **state) {
    (void)state;
    struct buf yaml, mistakes;
    struct config *config;
    buf_init_heap(&yaml, 1 << 16);
    buf_init_heap(&mistakes, 1 << 16);
    buf_str(&yaml, "queues: {q: {handler: {http: \"http://h\"}}}\n");
    for (int i = 0; i < CONFIG_MISTAKES_MAX + 3; i++)
        buf_printf(&yaml, "k%d: 1\n", i);
    assert_int_equal(config_parse(buf_view(&yaml), "f.yaml", &config, &mistakes), STATUS_INVALID);
    struct bytes rest = buf_view(&mistakes), line;
    for (int i = 0; i < CONFIG_MISTAKES_MAX; i++)
        assert_true(bytes_line(&rest, &line));
    assert_bytes(rest, "f.yaml: 3 more mistakes are not shown\n");
    config_free(config);
    buf_free(&yaml);
    buf_free(&mistakes);
}

static void workers_may_lease_any_number_unless_told(void **state) {
    (void)state;
    struct config *config =
        parsed("queues: {any: {handler: lease}, few: {handler: lease, concurrency: 7}}", "i.yaml");
    const struct config_queue *any = &config->queues[0];
    assert_int_equal(any->handlers[0].kind, HANDLER_LEASE);
    assert_int_equal(any->handler_count, 1);
    assert_int_equal(any->policy.handler, HANDLER_LEASE);
    assert_int_equal(any->concurrency, ENGINE_UNLIMITED);
    assert_int_equal(config->queues[1].concurrency, 7);
    config_free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_says_little_gets_the_defaults),
        cmocka_unit_test(a_policy_that_is_not_given_is_the_one_of_the_design),
        cmocka_unit_test(presets_follow_the_handler_wherever_it_stands),
        cmocka_unit_test(every_key_of_the_server_is_read),
        cmocka_unit_test(loopback_addresses_need_no_auth),
        cmocka_unit_test(every_key_of_retry_breaker_and_poison_is_read),
        cmocka_unit_test(every_condition_of_a_rule_is_read),
        cmocka_unit_test(a_handler_and_its_fallbacks_are_one_list),
        cmocka_unit_test(workers_may_lease_any_number_unless_told),
        cmocka_unit_test(a_fallback_keeps_answers_like_its_handler_unless_it_says_otherwise),
        cmocka_unit_test(a_queue_knows_every_dlq_that_it_can_reach),
        cmocka_unit_test(every_key_of_a_triage_rule_is_read),
        cmocka_unit_test(queues_may_share_a_dlq_that_is_told_of_once),
        cmocka_unit_test(the_environment_fills_in_names),
        cmocka_unit_test(an_anchor_stands_for_what_it_names),
        cmocka_unit_test(a_file_is_read_from_its_folder),
        cmocka_unit_test(off_may_be_written_as_yaml_1_1_writes_it),
        cmocka_unit_test(a_place_to_adopt_from_is_called_as_its_url_says),
        cmocka_unit_test(a_nul_byte_is_not_the_end_of_the_file),
        cmocka_unit_test(what_is_not_yaml_is_told_with_its_line),
        cmocka_unit_test(beyond_fifty_mistakes_are_only_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
