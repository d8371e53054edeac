/* alerts_outbox: the unsent ("owed") notices of each receiver. They are sent one at a time, oldest
 * first, each retried with backoff until the receiver takes it. A notice is sent only after its
 * alert, with the notice in it, is saved in the store; so it is sent at least once. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/backoff.h"
#include "triage/alerts/alerts_state.h"

/* Alertmanager resolves alerts that are not repeated within its resolve_timeout (5m). */
enum { ALERTMANAGER_REPEAT_MS = 60 * 1000 };

static const struct retry_policy backoff = {.base_ms = 1000,
                                            .cap_ms = 5 * 60 * 1000,
                                            .jitter = JITTER_EQUAL,
                                            .shape = BACKOFF_EXPONENTIAL,
                                            .retry_after_cap_ms = 3600 * 1000};

void alerts_outbox_init(struct alerts *alerts) {
    const struct alerts_options *options = &alerts->options;
    alerts->outboxes = memory_array(options->receiver_count, sizeof *alerts->outboxes);
    for (size_t i = 0; i < options->receiver_count; i++) {
        struct outbox *outbox = &alerts->outboxes[i];
        outbox->alerts = alerts;
        outbox->receiver = &options->receivers[i];
        list_init(&outbox->owed);
        buf_init_heap(&outbox->body, ALERT_NOTICE_MAX);
    }
}

static void forget(struct alerts *alerts, struct owed *owed) {
    assert(owed->alert->owed > 0 && alerts->owed > 0);
    owed->alert->owed--;
    owed->alert->unsaved++;
    owed->alert->changed = true;
    alerts->owed--;
    list_remove(&owed->link);
    free(owed);
}

void alerts_outbox_free(struct alerts *alerts) {
    for (size_t i = 0; i < alerts->options.receiver_count; i++) {
        struct outbox *outbox = &alerts->outboxes[i];
        while (!list_empty(&outbox->owed))
            forget(alerts, CONTAINER_OF(outbox->owed.next, struct owed, link));
        buf_free(&outbox->body);
    }
    free(alerts->outboxes);
}

/* ---- adding notices ---- */

static bool is_among(struct bytes name, const struct bytes *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq(names[i], name))
            return true;
    return false;
}

/* A receiver's globs restrict it to the queues and DLQs of a team. */
static bool is_within(const struct alerts *alerts, const struct alert_receiver *receiver,
                      const struct alert *alert) {
    bool dlq = alert_metric_is_dlq(alert->rule->metric);
    struct bytes name = bytes_cut(alert->subject, 0, bytes_find(alert->subject, BYTES("/")));
    struct alert_about about = {0};
    if (receiver->queue.len + receiver->dlq.len + receiver->owner.len == 0)
        return true;
    if (alerts->options.about)
        alerts->options.about(alerts->options.arg, dlq, name, &about);
    if (receiver->owner.len > 0 && !bytes_glob(receiver->owner, about.owner))
        return false;
    struct bytes own = dlq ? receiver->dlq : receiver->queue;
    struct bytes other = dlq ? receiver->queue : receiver->dlq;
    if (own.len > 0)
        return bytes_glob(own, name);
    return other.len == 0 || bytes_glob(other, dlq ? about.queue : about.dlq);
}

static bool is_receiver_of(const struct alerts *alerts, const struct alert_receiver *receiver,
                           const struct alert *alert) {
    const struct alert_rule *rule = alert->rule;
    if (alert->to_count > 0)
        return is_among(receiver->name, alert->to, alert->to_count);
    return rule->severity >= receiver->severity &&
           (rule->to_count == 0 || is_among(receiver->name, rule->to, rule->to_count)) &&
           is_within(alerts, receiver, alert);
}

static void owe(struct outbox *outbox, const struct owed *what) {
    struct owed *owed = memory_new(sizeof *owed);
    *owed = *what;
    list_push_back(&outbox->owed, &owed->link);
    owed->alert->owed++;
    outbox->alerts->owed++;
}

/* The last unsent notice of this alert is FIRE or REPEAT: another repeat would say nothing new. */
static bool repeats_already(const struct outbox *outbox, const struct alert *alert) {
    for (const struct list *node = outbox->owed.prev; node != &outbox->owed; node = node->prev) {
        const struct owed *owed = CONTAINER_OF(node, struct owed, link);
        if (owed->alert == alert)
            return owed->step != ALERT_RESOLVE;
    }
    return false;
}

void alerts_outbox_owe(struct alerts *alerts, struct alert *alert, enum alert_step step,
                       struct wall since, struct wall at) {
    assert(step != ALERT_NOTHING);
    struct owed owed = {
        .alert = alert, .step = step, .value = alert->value, .since = since, .at = at};
    log_info("alert %.*s of %.*s: %s", BYTES_ARG(alert->rule->name), BYTES_ARG(alert->subject),
             alert_step_text(step));
    for (size_t i = 0; i < alerts->options.receiver_count; i++) {
        struct outbox *outbox = &alerts->outboxes[i];
        if (!is_receiver_of(alerts, outbox->receiver, alert))
            continue;
        if (step == ALERT_REPEAT &&
            (alerts->owed >= ALERTS_OWED_MAX || repeats_already(outbox, alert)))
            continue;
        owe(outbox, &owed);
    }
}

void alerts_outbox_restore(struct alerts *alerts, struct bytes to, const struct owed *owed) {
    for (size_t i = 0; i < alerts->options.receiver_count; i++)
        if (bytes_eq(alerts->outboxes[i].receiver->name, to))
            owe(&alerts->outboxes[i], owed);
}

/* ---- sending ---- */

static void open_answer(struct alerts *alerts, struct alerts_post *post) {
    struct outbox *outbox = CONTAINER_OF(post, struct outbox, post);
    assert(outbox->calling && !list_empty(&outbox->owed));
    outbox->calling = false;
    if (outbox->failed && !outbox->refused) {
        outbox->failures++;
        int64_t delay_ms = backoff_delay_ms(&backoff, outbox->failures, 0, -1, &alerts->rng);
        outbox->again = mono_after(clock_now(alerts->options.clock).mono, delay_ms);
        log_warn("alerts to %.*s: %s; retrying in %lld s", BYTES_ARG(outbox->receiver->name),
                 outbox->trouble, (long long)(delay_ms / 1000));
        return;
    }
    if (outbox->refused)
        log_error("alerts to %.*s: %s; the receiver rejected the notice for good, dropping it",
                  BYTES_ARG(outbox->receiver->name), outbox->trouble);
    outbox->failures = 0;
    forget(alerts, CONTAINER_OF(outbox->owed.next, struct owed, link));
}

/* 400 and 422 mean that the notice itself is refused; other failures may be temporary. */
static bool is_refused(const struct outcome *outcome) {
    return outcome->kind == KIND_STATUS && (outcome->status == 400 || outcome->status == 422);
}

static void on_done(struct call *call, const struct outcome *outcome) {
    struct outbox *outbox = CONTAINER_OF(call, struct outbox, call);
    struct bytes words = outcome->error_message.len ? outcome->error_message : outcome->error_type;
    outbox->failed = outcome->ending != ENDING_OK;
    outbox->refused = outbox->failed && is_refused(outcome);
    snprintf(outbox->trouble, sizeof outbox->trouble, "%s%.*s", outcome->status ? "HTTP " : "",
             BYTES_ARG(bytes_clip(words, sizeof outbox->trouble - 8)));
    mailbox_post(&outbox->alerts->mailbox, &outbox->post.mail);
}

static void send(struct outbox *outbox, struct wall now) {
    assert(!outbox->calling && !list_empty(&outbox->owed));
    const struct owed *owed = CONTAINER_OF(outbox->owed.next, struct owed, link);
    struct alert_notice notice = {.rule = owed->alert->rule,
                                  .subject = owed->alert->subject,
                                  .value = owed->value,
                                  .words = owed->alert->words,
                                  .letters = owed->alert->letters,
                                  .owner = owed->alert->owner,
                                  .runbook = owed->alert->runbook,
                                  .step = owed->step,
                                  .since = owed->since,
                                  .at = owed->at};
    buf_clear(&outbox->body);
    alert_notice_put(&notice, outbox->receiver, &outbox->body);
    outbox->call = (struct call){.queue = BYTES("alerts"),
                                 .id = owed->alert->rule->name,
                                 .body = buf_view(&outbox->body),
                                 .content_type = BYTES("application/json"),
                                 .attempt = outbox->failures + 1,
                                 .first_attempt_at = now,
                                 .done = on_done};
    outbox->post.open = open_answer;
    outbox->calling = true;
    outbox->alerts->under_way++;
    outbox->receiver->handler->vtable->start(outbox->receiver->handler, &outbox->call);
}

static bool may_send(const struct outbox *outbox) {
    if (outbox->calling || list_empty(&outbox->owed))
        return false;
    const struct alert *alert = CONTAINER_OF(outbox->owed.next, struct owed, link)->alert;
    return !alert->changed && !alert->saving;
}

/* Sends all firing alerts to Alertmanager again and again, so that it does not resolve them. */
static void remind(struct alerts *alerts, struct outbox *outbox, struct wall now) {
    if (outbox->receiver->kind != RECEIVER_ALERTMANAGER || !list_empty(&outbox->owed) ||
        now.ms - outbox->reminded.ms < ALERTMANAGER_REPEAT_MS)
        return;
    outbox->reminded = now;
    LIST_EACH(node, &alerts->all) {
        struct alert *alert = CONTAINER_OF(node, struct alert, link);
        struct owed owed = {.alert = alert,
                            .step = ALERT_REPEAT,
                            .value = alert->value,
                            .since = alert->state.since,
                            .at = now};
        if (alert->state.stage == ALERT_FIRING && is_receiver_of(alerts, outbox->receiver, alert) &&
            !alerts_inhibitor(alerts, alert))
            owe(outbox, &owed);
    }
}

void alerts_outbox_send(struct alerts *alerts, struct instant now) {
    for (size_t i = 0; i < alerts->options.receiver_count; i++) {
        struct outbox *outbox = &alerts->outboxes[i];
        remind(alerts, outbox, now.wall);
        if (may_send(outbox) && now.mono.ms >= outbox->again.ms)
            send(outbox, now.wall);
    }
}

void alerts_outbox_cancel(struct alerts *alerts) {
    for (size_t i = 0; i < alerts->options.receiver_count; i++) {
        struct outbox *outbox = &alerts->outboxes[i];
        struct handler *handler = outbox->receiver->handler;
        if (outbox->calling)
            handler->vtable->cancel(handler, &outbox->call);
    }
}

struct mono alerts_outbox_next(const struct alerts *alerts) {
    struct mono next = MONO_NEVER;
    for (size_t i = 0; i < alerts->options.receiver_count; i++)
        if (may_send(&alerts->outboxes[i]))
            next = mono_earlier(next, alerts->outboxes[i].again);
    return next;
}
