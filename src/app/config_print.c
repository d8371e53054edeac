/* Everything is printed, also what is a default, except texts that are empty by default. DLQs stand
 * under `dlqs` with their effective settings, whoever gave them. */
#include "app/config_dlq.h"
#include "app/config_print_adopt.h"
#include "app/config_print_alerts.h"
#include "app/config_order.h"
#include "app/config_policy.h"
#include "app/config_print_rules.h"
#include "app/config_print_triage.h"
#include "app/config_retention.h"
#include "app/config_server.h"
#include "app/config_telemetry.h"
#include "app/sources.h"
#include "base/instant.h"

enum { TEXT_MAX = 4 << 20 };

static void put_server(struct config_printer *p) {
    const struct config *config = p->config;
    bool ipv6 = bytes_find(config->listen_host, BYTES(":")) < config->listen_host.len;
    buf_printf(p->out, "server:\n  listen: \"%s%.*s%s:%u\"\n", ipv6 ? "[" : "",
               BYTES_ARG(config->listen_host), ipv6 ? "]" : "", config->listen_port);
    if (config->auth_none)
        buf_str(p->out, "  auth: none\n");
    buf_str(p->out, "  max_body: ");
    size_put(p->out, config->max_body);
    buf_str(p->out, "\n  body_memory: ");
    size_put(p->out, config->body_memory);
    config_printer_duration(p, "\n  drain: ", config->drain_ms);
    config_printer_duration(p, "\n  jq_timeout: ", config->jq_timeout_ms);
    buf_printf(p->out, "\n  payloads: %s\n  log: %s\n  log_level: %s\n",
               config_payloads_words[config->payloads], log_format_words[config->log],
               log_level_words[config->log_level]);
    config_telemetry_print(config, p->out);
    buf_str(p->out, "store: ");
    struct buf store;
    buf_init_heap(&store, TEXT_MAX);
    buf_printf(&store, "sqlite:%.*s", BYTES_ARG(config->store_path));
    config_printer_text(p, buf_view(&store));
    buf_free(&store);
    buf_char(p->out, '\n');
}

static void put_argv(struct config_printer *p, const struct config_handler *handler) {
    buf_str(p->out, "{exec: [");
    for (size_t i = 0; i < handler->argc; i++) {
        buf_str(p->out, i ? ", " : "");
        config_printer_text(p, handler->argv[i]);
    }
    buf_char(p->out, ']');
}

static void put_stream(struct config_printer *p, const struct config_handler *handler) {
    buf_printf(p->out, ", mode: stream, workers: %u", handler->workers);
    if (handler->max_messages)
        buf_printf(p->out, ", max_messages: %llu", (unsigned long long)handler->max_messages);
}

static void put_reply(struct config_printer *p, const struct config_reply *reply) {
    if (reply->store_ms) {
        config_printer_duration(p, ", reply: {store: ", reply->store_ms);
        buf_char(p->out, '}');
    }
    if (reply->url.len) {
        buf_str(p->out, ", reply: ");
        config_printer_text(p, reply->url);
    }
}

static void put_lease(struct config_printer *p, const struct config_reply *reply) {
    bool says_more = reply->store_ms || reply->url.len;
    buf_str(p->out, says_more ? "{lease: {}" : "lease");
    put_reply(p, reply);
    buf_str(p->out, says_more ? "}" : "");
}

static void put_handler(struct config_printer *p, const struct config_handler *handler) {
    if (handler->kind == HANDLER_CALLBACK) {
        buf_str(p->out, "callback");
        return;
    }
    if (handler->kind == HANDLER_LEASE) {
        put_lease(p, &handler->reply);
        return;
    }
    if (handler->kind == HANDLER_EXEC) {
        put_argv(p, handler);
    } else {
        buf_str(p->out, "{http: ");
        config_printer_text(p, handler->url);
    }
    config_printer_duration(p, ", timeout: ", handler->timeout_ms);
    if (handler->header_count)
        config_printer_headers(p, handler->headers, handler->header_count);
    if (handler->ca_file.len) {
        buf_str(p->out, ", ca: ");
        config_printer_text(p, handler->ca_file);
    }
    if (handler->mode == MODE_STREAM)
        put_stream(p, handler);
    if (handler->batch > 1)
        buf_printf(p->out, ", batch: %u", handler->batch);
    if (handler->version.len) {
        buf_str(p->out, ", version: ");
        config_printer_text(p, handler->version);
    }
    if (handler->edit.len) {
        buf_str(p->out, ", edit: ");
        config_printer_text(p, handler->edit);
    }
    put_reply(p, &handler->reply);
    buf_str(p->out, "}");
}

static void put_handlers(struct config_printer *p, const struct config_queue *queue) {
    buf_str(p->out, "    handler: ");
    put_handler(p, &queue->handlers[0]);
    buf_char(p->out, '\n');
    if (queue->compensate) {
        buf_str(p->out, "    compensate: ");
        put_handler(p, queue->compensate);
        buf_char(p->out, '\n');
    }
    if (queue->handler_count == 1)
        return;
    buf_str(p->out, "    fallback:\n");
    for (size_t i = 1; i < queue->handler_count; i++) {
        buf_str(p->out, "      - ");
        put_handler(p, &queue->handlers[i]);
        buf_char(p->out, '\n');
    }
}

static void put_shape(struct config_printer *p, const struct retry_policy *retry) {
    if (retry->shape != BACKOFF_LIST) {
        buf_printf(p->out, "\n      backoff: %s", config_backoff_words[retry->shape]);
        return;
    }
    for (size_t i = 0; i < retry->delay_count; i++)
        config_printer_duration(p, i ? ", " : "\n      delays: [", retry->delays_ms[i]);
    buf_char(p->out, ']');
}

static void put_retry(struct config_printer *p, const struct retry_policy *retry) {
    buf_printf(p->out, "    retry:\n      attempts: %u", retry->attempts);
    config_printer_duration(p, "\n      base: ", retry->base_ms);
    config_printer_duration(p, "\n      cap: ", retry->cap_ms);
    buf_printf(p->out, "\n      jitter: %s", config_jitter_words[retry->jitter]);
    put_shape(p, retry);
    config_printer_duration(p, "\n      max_age: ", retry->max_age_ms);
    config_printer_duration(p, "\n      retry_after_cap: ", retry->retry_after_cap_ms);
    if (retry->budget_permille == BUDGET_OFF)
        buf_str(p->out, "\n      budget: off");
    else
        config_printer_decimal(p, "\n      budget: ", retry->budget_permille, 1, "%");
    config_printer_decimal(p, "\n      budget_floor: ", retry->budget_floor_permille, 3, "/s\n");
}

static void put_breaker(struct config_printer *p, const struct breaker_policy *breaker) {
    if (breaker->off) {
        buf_str(p->out, "    breaker: off\n");
        return;
    }
    config_printer_decimal(p, "    breaker:\n      failure_rate: ", breaker->failure_permille, 1,
                           "%");
    config_printer_duration(p, "\n      window: ", breaker->window_ms);
    buf_printf(p->out, "\n      min_attempts: %u\n      consecutive: %u", breaker->min_attempts,
               breaker->consecutive);
    config_printer_duration(p, "\n      open: ", breaker->open_ms);
    buf_char(p->out, '\n');
}

static void put_routes(struct config_printer *p, const struct policy *policy) {
    if (policy->route_count == 0)
        return;
    buf_str(p->out, "    dlq:\n      route:\n");
    for (size_t i = 0; i < policy->route_count; i++) {
        buf_str(p->out, "        ");
        config_printer_key(p, policy->routes[i].category, ": ");
        buf_printf(p->out, "%.*s\n", BYTES_ARG(policy->routes[i].dlq));
    }
}

static void put_order(struct config_printer *p, const struct config_queue *queue) {
    const struct engine_idempotency *idempotency = &queue->idempotency;
    bool by_body = idempotency->path.len > 0;
    buf_printf(p->out, "    order: %s\n", config_order_words[queue->order]);
    if (queue->order == ORDER_KEY)
        buf_printf(p->out, "    on_dead: %s\n    blocked_limit: %u\n",
                   config_on_dead_words[queue->on_dead], queue->blocked_limit);
    if (!by_body && !idempotency->header.len)
        return;
    buf_printf(p->out, "    idempotency: {%s: ", by_body ? "key" : "header");
    config_printer_text(p, by_body ? idempotency->path : idempotency->header);
    config_printer_duration(p, ", dedupe: ", idempotency->dedupe_ms);
    buf_str(p->out, "}\n");
}

static void put_source(struct config_printer *p, struct bytes source) {
    buf_str(p->out, "    source: ");
    if (bytes_is(source, SOURCES_BUILTIN))
        buf_bytes(p->out, source);
    else
        config_printer_text(p, source);
    buf_char(p->out, '\n');
}

static void put_flood(struct config_printer *p, const struct flood_policy *flood) {
    config_printer_decimal(p, "    flood:\n      share: ", flood->share_permille, 1, "%");
    buf_printf(p->out, "\n      of: %u", flood->of);
    config_printer_duration(p, "\n      window: ", flood->window_ms);
    buf_printf(p->out, "\n      then: %s\n", config_flood_words[flood->then]);
}

static void put_queue(struct config_printer *p, const struct config_queue *queue) {
    buf_str(p->out, "  ");
    config_printer_key(p, queue->name, ":\n");
    put_source(p, queue->source);
    put_handlers(p, queue);
    if (queue->concurrency != ENGINE_UNLIMITED)
        buf_printf(p->out, "    concurrency: %u\n", queue->concurrency);
    config_print_rules(p, &queue->policy);
    put_retry(p, &queue->policy.retry);
    put_breaker(p, &queue->policy.breaker);
    buf_printf(p->out, "    poison:\n      crashes: %u\n      deliveries: %u\n",
               queue->policy.poison.crashes, queue->policy.poison.deliveries);
    if (queue->policy.expire_ms > 0) {
        config_printer_duration(p, "    expire: ", queue->policy.expire_ms);
        buf_char(p->out, '\n');
    }
    put_flood(p, &queue->flood);
    if (queue->runbook.len > 0) {
        buf_str(p->out, "    runbook: ");
        config_printer_text(p, queue->runbook);
        buf_char(p->out, '\n');
    }
    put_order(p, queue);
    buf_printf(p->out, "    replay:\n      max_lag: %llu\n",
               (unsigned long long)queue->replay_max_lag);
    put_routes(p, &queue->policy);
}

static void put_fresh(struct config_printer *p, const struct config_triage *triage) {
    if (triage->fresh_ms == 0 && !triage->check)
        return;
    buf_str(p->out, ", fresh: {");
    if (triage->fresh_ms > 0)
        config_printer_duration(p, "within: ", triage->fresh_ms);
    if (triage->check) {
        buf_str(p->out, triage->fresh_ms > 0 ? ", check: " : "check: ");
        put_handler(p, triage->check);
    }
    if (triage->fresh_hash.len) {
        buf_str(p->out, ", hash: ");
        config_printer_text(p, triage->fresh_hash);
    }
    buf_char(p->out, '}');
}

static void put_retention(struct config_printer *p, const struct config_retention *retention) {
    buf_str(p->out, ", retention: {");
    for (size_t i = 0; i < RETENTION_COUNT; i++) {
        buf_printf(p->out, "%s%s: ", i > 0 ? ", " : "", config_retention_words[i]);
        if (retention->keep_ms[i] == RETENTION_NEVER)
            buf_str(p->out, "never");
        else
            duration_put(p->out, retention->keep_ms[i]);
    }
    buf_char(p->out, '}');
}

static void put_dlq(struct config_printer *p, const struct engine_dlq *dlq,
                    const struct config_triage *triage) {
    bool comma = true;
    buf_str(p->out, "  ");
    config_printer_key(p, dlq->name, ": ");
    buf_printf(p->out, "{cap: %llu, on_full: %s", (unsigned long long)dlq->cap,
               config_on_full_words[dlq->on_full]);
    config_printer_optional(p, "owner", dlq->owner, &comma);
    config_printer_optional(p, "runbook", dlq->runbook, &comma);
    config_printer_optional(p, "archive", dlq->archive, &comma);
    config_printer_optional(p, "mirror", dlq->mirror, &comma);
    buf_printf(p->out, ", max_replays: %u", triage->max_replays);
    put_fresh(p, triage);
    put_retention(p, &triage->retention);
    config_print_triage(p, &triage->rules);
    buf_str(p->out, "}\n");
}

static void put_dlqs(struct config_printer *p) {
    buf_str(p->out, "dlqs: # every one that a queue can reach\n");
    for (size_t i = 0; i < p->config->dlq_count; i++)
        put_dlq(p, p->config->dlqs[i].dlq, p->config->dlqs[i].triage);
}

void config_print(const struct config *config, struct buf *out) {
    struct config_printer p = {config, out, {0}};
    buf_init_heap(&p.room, TEXT_MAX);
    put_server(&p);
    buf_str(out, config->queue_count > 0 ? "queues:\n" : "");
    for (size_t i = 0; i < config->queue_count; i++)
        put_queue(&p, &config->queues[i]);
    config_print_adopt(config, out);
    put_dlqs(&p);
    config_print_alerts(config, out);
    buf_free(&p.room);
}
