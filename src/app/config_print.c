/* Everything is printed, also what is a default, except texts that are empty by default. DLQs stand
 * under `dlqs` with their effective settings, whoever gave them. A text that had ${NAME} in it is
 * printed with it, so that no secret leaves the environment. */
#include <string.h>

#include "base/ascii.h"
#include "app/config.h"
#include "app/config_dlq.h"
#include "app/config_env.h"
#include "app/config_order.h"
#include "app/config_policy.h"
#include "base/instant.h"
#include "base/json.h"

enum { TEXT_MAX = 4 << 20 };

struct printer {
    const struct config *config;
    struct buf *out;
    struct buf room; /* for a text that must be escaped */
};

/* Words that some YAML readers take for something other than a text. */
static bool is_special(struct bytes text) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_eq_nocase(text, bytes_of(words[i])))
            return true;
    return false;
}

static bool is_plain(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool inner = ascii_is_digit(c) || c == '_' || c == '.' || c == '-';
        if (!ascii_is_letter(c) && !(i > 0 && inner))
            return false;
    }
    return text.len > 0 && !is_special(text);
}

/* Quoted where need be: a JSON string is a YAML string. */
static void put_raw(struct printer *p, struct bytes text) {
    struct json_out json = json_out(p->out);
    if (is_plain(text))
        buf_bytes(p->out, text);
    else
        json_put(&json, text);
}

static void put_text(struct printer *p, struct bytes text) {
    put_raw(p, config_env_written(p->config, text, &p->room));
}

static void put_key(struct printer *p, struct bytes key, const char *behind) {
    put_raw(p, key);
    buf_str(p->out, behind);
}

static void put_duration(struct printer *p, const char *key, int64_t ms) {
    buf_str(p->out, key);
    duration_put(p->out, ms);
}

/* 125 with one digit → 12.5 */
static void put_decimal(struct printer *p, const char *key, uint32_t value, int digits,
                        const char *unit) {
    uint32_t scale = 1;
    for (int i = 0; i < digits; i++)
        scale *= 10;
    buf_printf(p->out, "%s%u", key, value / scale);
    uint32_t rest = value % scale;
    if (rest)
        buf_char(p->out, '.');
    for (; rest; rest = rest * 10 % scale)
        buf_printf(p->out, "%u", rest * 10 / scale);
    buf_str(p->out, unit);
}

static void put_server(struct printer *p) {
    const struct config *config = p->config;
    bool ipv6 = bytes_find(config->listen_host, BYTES(":")) < config->listen_host.len;
    buf_printf(p->out, "server:\n  listen: \"%s%.*s%s:%u\"\n", ipv6 ? "[" : "",
               BYTES_ARG(config->listen_host), ipv6 ? "]" : "", config->listen_port);
    if (config->auth_none)
        buf_str(p->out, "  auth: none\n");
    buf_str(p->out, "  max_body: ");
    size_put(p->out, config->max_body);
    put_duration(p, "\n  drain: ", config->drain_ms);
    put_duration(p, "\n  jq_timeout: ", config->jq_timeout_ms);
    buf_str(p->out, "\nstore: ");
    struct buf store;
    buf_init_heap(&store, TEXT_MAX);
    buf_printf(&store, "sqlite:%.*s", BYTES_ARG(config->store_path));
    put_text(p, buf_view(&store));
    buf_free(&store);
    buf_char(p->out, '\n');
}

static void put_headers(struct printer *p, const struct config_handler *handler) {
    buf_str(p->out, ", headers: {");
    for (size_t i = 0; i < handler->header_count; i++) {
        buf_str(p->out, i ? ", " : "");
        put_key(p, handler->headers[i].name, ": ");
        put_text(p, handler->headers[i].value);
    }
    buf_char(p->out, '}');
}

static void put_argv(struct printer *p, const struct config_handler *handler) {
    buf_str(p->out, "{exec: [");
    for (size_t i = 0; i < handler->argc; i++) {
        buf_str(p->out, i ? ", " : "");
        put_text(p, handler->argv[i]);
    }
    buf_char(p->out, ']');
}

static void put_reply(struct printer *p, const struct config_reply *reply) {
    if (reply->store_ms) {
        put_duration(p, ", reply: {store: ", reply->store_ms);
        buf_char(p->out, '}');
    }
    if (reply->url.len) {
        buf_str(p->out, ", reply: ");
        put_text(p, reply->url);
    }
}

static void put_handler(struct printer *p, const struct config_handler *handler) {
    if (handler->kind == HANDLER_LEASE || handler->kind == HANDLER_CALLBACK) {
        buf_str(p->out, handler->kind == HANDLER_LEASE ? "lease\n" : "callback\n");
        return;
    }
    if (handler->kind == HANDLER_EXEC) {
        put_argv(p, handler);
    } else {
        buf_str(p->out, "{http: ");
        put_text(p, handler->url);
    }
    put_duration(p, ", timeout: ", handler->timeout_ms);
    if (handler->header_count)
        put_headers(p, handler);
    if (handler->ca_file.len) {
        buf_str(p->out, ", ca: ");
        put_text(p, handler->ca_file);
    }
    if (handler->edit.len) {
        buf_str(p->out, ", edit: ");
        put_text(p, handler->edit);
    }
    put_reply(p, &handler->reply);
    buf_str(p->out, "}\n");
}

static void put_handlers(struct printer *p, const struct config_queue *queue) {
    buf_str(p->out, "    handler: ");
    put_handler(p, &queue->handlers[0]);
    if (queue->handler_count == 1)
        return;
    buf_str(p->out, "    fallback:\n");
    for (size_t i = 1; i < queue->handler_count; i++) {
        buf_str(p->out, "      - ");
        put_handler(p, &queue->handlers[i]);
    }
}

/* ---- conditions: each puts ", name: value" if it is given ---- */

static void begin(struct printer *p, bool *comma, const char *name) {
    buf_printf(p->out, "%s%s: ", *comma ? ", " : "", name);
    *comma = true;
}

static void put_statuses(struct printer *p, const struct rule_when *when, bool *comma) {
    if (when->status_count == 0)
        return;
    begin(p, comma, "status");
    for (size_t i = 0; i < when->status_count; i++) {
        const struct rule_range *range = &when->statuses[i];
        buf_str(p->out, i ? ", " : "[");
        if (range->from == range->to)
            buf_printf(p->out, "%d", range->from);
        else
            buf_printf(p->out, "%dxx", range->from / 100);
    }
    buf_char(p->out, ']');
}

static void put_kinds(struct printer *p, const struct rule_when *when, bool *comma) {
    if (when->kinds == 0)
        return;
    begin(p, comma, "kind");
    const char *before = "[";
    for (int i = 0; i < KIND_COUNT; i++) {
        if (when->kinds & 1u << i) {
            buf_printf(p->out, "%s%s", before, kind_text((enum kind)i));
            before = ", ";
        }
    }
    buf_char(p->out, ']');
}

static void put_exit_codes(struct printer *p, const struct rule_when *when, bool *comma) {
    if (when->exit_code_count == 0)
        return;
    begin(p, comma, "exit_code");
    for (size_t i = 0; i < when->exit_code_count; i++)
        buf_printf(p->out, "%s%d", i ? ", " : "[", when->exit_codes[i].from);
    buf_char(p->out, ']');
}

static void put_signal(struct printer *p, const struct rule_when *when, bool *comma) {
    int number = when->signals.from;
    const char *name = sigabbrev_np(number);
    if (number == 0)
        return;
    begin(p, comma, "signal");
    if (name)
        buf_printf(p->out, "SIG%s", name);
    else
        buf_printf(p->out, "%d", number);
}

static void put_attempts(struct printer *p, const struct rule_when *when, bool *comma) {
    if (when->attempts.from == 0)
        return;
    begin(p, comma, "attempt");
    buf_printf(p->out, "%d", when->attempts.from);
    if (when->attempts.to != when->attempts.from)
        buf_printf(p->out, "-%d", when->attempts.to);
}

static void put_header(struct printer *p, const struct rule_when *when, bool *comma) {
    if (when->header_name.len == 0)
        return;
    begin(p, comma, "header");
    if (when->header_value.len == 0) {
        put_text(p, when->header_name);
        return;
    }
    buf_char(p->out, '{');
    put_key(p, when->header_name, ": ");
    put_text(p, when->header_value);
    buf_char(p->out, '}');
}

static void put_optional(struct printer *p, const char *name, struct bytes text, bool *comma) {
    if (text.len == 0)
        return;
    begin(p, comma, name);
    put_text(p, text);
}

static void put_when(struct printer *p, const struct rule_when *when) {
    bool comma = false;
    buf_str(p->out, "when: {");
    put_statuses(p, when, &comma);
    put_kinds(p, when, &comma);
    put_optional(p, "error_type", when->error_type, &comma);
    put_optional(p, "message", when->message, &comma);
    put_exit_codes(p, when, &comma);
    put_signal(p, when, &comma);
    put_attempts(p, when, &comma);
    put_header(p, when, &comma);
    put_optional(p, "jq", when->jq, &comma);
    buf_char(p->out, '}');
}

static void put_rule(struct printer *p, const struct rule *rule) {
    bool comma = true;
    buf_str(p->out, "        - {");
    put_when(p, &rule->when);
    begin(p, &comma, "do");
    buf_str(p->out, verdict_text(rule->verdict));
    put_optional(p, "category", rule->category, &comma);
    put_optional(p, "reason", rule->reason, &comma);
    put_optional(p, "dlq", rule->dlq, &comma);
    buf_str(p->out, "}\n");
}

static void put_classify(struct printer *p, const struct policy *policy) {
    buf_str(p->out, "    classify:\n      presets: [");
    for (size_t i = 0; i < policy->preset_count; i++)
        buf_printf(p->out, "%s%s", i ? ", " : "", preset_text(policy->presets[i]));
    buf_str(p->out, "]\n");
    if (policy->rule_count)
        buf_str(p->out, "      rules: # tried before the presets; the first that matches wins\n");
    for (size_t i = 0; i < policy->rule_count; i++)
        put_rule(p, &policy->rules[i]);
}

static void put_shape(struct printer *p, const struct retry_policy *retry) {
    if (retry->shape != BACKOFF_LIST) {
        buf_printf(p->out, "\n      backoff: %s", config_backoff_words[retry->shape]);
        return;
    }
    for (size_t i = 0; i < retry->delay_count; i++)
        put_duration(p, i ? ", " : "\n      delays: [", retry->delays_ms[i]);
    buf_char(p->out, ']');
}

static void put_retry(struct printer *p, const struct retry_policy *retry) {
    buf_printf(p->out, "    retry:\n      attempts: %u", retry->attempts);
    put_duration(p, "\n      base: ", retry->base_ms);
    put_duration(p, "\n      cap: ", retry->cap_ms);
    buf_printf(p->out, "\n      jitter: %s", config_jitter_words[retry->jitter]);
    put_shape(p, retry);
    put_duration(p, "\n      max_age: ", retry->max_age_ms);
    put_duration(p, "\n      retry_after_cap: ", retry->retry_after_cap_ms);
    put_decimal(p, "\n      budget: ", retry->budget_permille, 1, "%");
    put_decimal(p, "\n      budget_floor: ", retry->budget_floor_permille, 3, "/s\n");
}

static void put_breaker(struct printer *p, const struct breaker_policy *breaker) {
    if (breaker->off) {
        buf_str(p->out, "    breaker: off\n");
        return;
    }
    put_decimal(p, "    breaker:\n      failure_rate: ", breaker->failure_permille, 1, "%");
    put_duration(p, "\n      window: ", breaker->window_ms);
    buf_printf(p->out, "\n      min_attempts: %u\n      consecutive: %u", breaker->min_attempts,
               breaker->consecutive);
    put_duration(p, "\n      open: ", breaker->open_ms);
    buf_char(p->out, '\n');
}

static void put_routes(struct printer *p, const struct policy *policy) {
    if (policy->route_count == 0)
        return;
    buf_str(p->out, "    dlq:\n      route:\n");
    for (size_t i = 0; i < policy->route_count; i++) {
        buf_str(p->out, "        ");
        put_key(p, policy->routes[i].category, ": ");
        buf_printf(p->out, "%.*s\n", BYTES_ARG(policy->routes[i].dlq));
    }
}

static void put_order(struct printer *p, const struct config_queue *queue) {
    const struct engine_idempotency *idempotency = &queue->idempotency;
    bool by_body = idempotency->path.len > 0;
    buf_printf(p->out, "    order: %s\n", config_order_words[queue->order]);
    if (queue->order == ORDER_KEY)
        buf_printf(p->out, "    on_dead: %s\n    blocked_limit: %u\n",
                   config_on_dead_words[queue->on_dead], queue->blocked_limit);
    if (!by_body && !idempotency->header.len)
        return;
    buf_printf(p->out, "    idempotency: {%s: ", by_body ? "key" : "header");
    put_text(p, by_body ? idempotency->path : idempotency->header);
    put_duration(p, ", dedupe: ", idempotency->dedupe_ms);
    buf_str(p->out, "}\n");
}

static void put_queue(struct printer *p, const struct config_queue *queue) {
    buf_str(p->out, "  ");
    put_key(p, queue->name, ":\n");
    buf_printf(p->out, "    source: %.*s\n", BYTES_ARG(queue->source));
    put_handlers(p, queue);
    if (queue->concurrency != ENGINE_UNLIMITED)
        buf_printf(p->out, "    concurrency: %u\n", queue->concurrency);
    put_classify(p, &queue->policy);
    put_retry(p, &queue->policy.retry);
    put_breaker(p, &queue->policy.breaker);
    buf_printf(p->out, "    poison:\n      crashes: %u\n      deliveries: %u\n",
               queue->policy.poison.crashes, queue->policy.poison.deliveries);
    put_order(p, queue);
    put_routes(p, &queue->policy);
}

static void put_dlq(struct printer *p, const struct engine_dlq *dlq) {
    bool comma = true;
    buf_str(p->out, "  ");
    put_key(p, dlq->name, ": ");
    buf_printf(p->out, "{cap: %llu, on_full: %s", (unsigned long long)dlq->cap,
               config_on_full_words[dlq->on_full]);
    put_optional(p, "owner", dlq->owner, &comma);
    put_optional(p, "archive", dlq->archive, &comma);
    buf_str(p->out, "}\n");
}

/* A DLQ that several queues share is printed once. */
struct printed {
    struct map_node node;
    struct bytes name;
};

static bool is_printed(const struct map *printed, struct bytes name) {
    for (struct map_node *at = map_first(printed, bytes_hash(name)); at; at = map_next(at))
        if (bytes_eq(((const struct printed *)(const void *)at)->name, name))
            return true;
    return false;
}

static void put_dlqs(struct printer *p) {
    struct map printed = {0};
    struct arena arena;
    arena_init_heap(&arena, 4096);
    buf_str(p->out, "dlqs: # every one that a queue can reach\n");
    for (size_t i = 0; i < p->config->queue_count; i++) {
        const struct config_queue *queue = &p->config->queues[i];
        for (size_t j = 0; j < queue->dlq_count; j++) {
            if (is_printed(&printed, queue->dlqs[j].name))
                continue;
            struct printed *entry = arena_alloc(&arena, sizeof *entry);
            entry->name = queue->dlqs[j].name;
            map_insert(&printed, &entry->node, bytes_hash(entry->name));
            put_dlq(p, &queue->dlqs[j]);
        }
    }
    map_free(&printed);
    arena_free(&arena);
}

void config_print(const struct config *config, struct buf *out) {
    struct printer p = {config, out, {0}};
    buf_init_heap(&p.room, TEXT_MAX);
    put_server(&p);
    buf_str(out, "queues:\n");
    for (size_t i = 0; i < config->queue_count; i++)
        put_queue(&p, &config->queues[i]);
    put_dlqs(&p);
    buf_free(&p.room);
}
