/* alerts: the turns of the alert thread: read the samples, step every alert's state, save changed
 * alerts, send the notices that are saved. Also the list of alerts for the API. */
#include "triage/alerts/alerts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json/json_member.h"
#include "base/memory.h"
#include "triage/alerts/alerts_state.h"

/* ---- the alerts by name ---- */

static uint64_t hash_of(struct bytes rule, struct bytes subject) {
    return bytes_hash(rule) * 31 + bytes_hash(subject);
}

static struct alert *find(struct alerts *alerts, struct bytes rule, struct bytes subject) {
    struct map_node *node = map_first(&alerts->by_name, hash_of(rule, subject));
    for (; node; node = map_next(node)) {
        struct alert *alert = CONTAINER_OF(node, struct alert, node);
        if (bytes_eq(alert->rule->name, rule) && bytes_eq(alert->subject, subject))
            return alert;
    }
    return NULL;
}

struct alert *alerts_add(struct alerts *alerts, const struct alert_rule *rule,
                         struct bytes subject) {
    struct alert *alert = memory_new(sizeof *alert);
    alert->rule = rule;
    alert->subject = (struct bytes){bytes_dup(subject), subject.len};
    map_insert(&alerts->by_name, &alert->node, hash_of(rule->name, subject));
    list_push_back(&alerts->all, &alert->link);
    return alert;
}

static void free_text(struct bytes text) {
    free((void *)(uintptr_t)text.ptr);
}

void alerts_drop(struct alerts *alerts, struct alert *alert) {
    assert(alert->owed == 0 && !alert->saving);
    map_remove(&alerts->by_name, &alert->node);
    list_remove(&alert->link);
    free_text(alert->subject);
    free_text(alert->words);
    free_text(alert->letters);
    free_text(alert->owner);
    free_text(alert->runbook);
    free(alert);
}

/* ---- samples ---- */

static void set_text(struct bytes *kept, struct bytes text) {
    if (bytes_eq(*kept, text))
        return;
    free_text(*kept);
    *kept = (struct bytes){bytes_dup(text), text.len};
}

/* A subject may name a group or a replay behind a slash; rules match the DLQ or queue before it. */
static struct bytes name_of(struct bytes subject) {
    return bytes_cut(subject, 0, bytes_find(subject, BYTES("/")));
}

static void set_about(struct alerts *alerts, struct alert *alert) {
    struct alert_about about = {0};
    if (alerts->options.about)
        alerts->options.about(alerts->options.arg, alert_metric_is_dlq(alert->rule->metric),
                              name_of(alert->subject), &about);
    set_text(&alert->owner, about.owner);
    set_text(&alert->runbook, about.runbook);
}

static bool concerns(const struct alert_rule *rule, const struct alert_sample *sample) {
    return rule->metric == sample->metric && bytes_glob(rule->subject, name_of(sample->subject)) &&
           (!rule->named || sample->to_count > 0);
}

static void apply(struct alerts *alerts, const struct alert_rule *rule,
                  const struct alert_sample *sample) {
    struct alert *alert = find(alerts, rule->name, sample->subject);
    if (!alert_state_breached(rule, sample->value))
        return;
    if (!alert)
        alert = alerts_add(alerts, rule, sample->subject);
    alert->breached = true;
    alert->value = sample->value;
    alert->to = sample->to;
    alert->to_count = sample->to_count;
    set_text(&alert->words, sample->words);
    set_text(&alert->letters, sample->letters);
    set_about(alerts, alert);
}

/* ---- inhibition ---- */

const struct alert *alerts_inhibitor(struct alerts *alerts, const struct alert *alert) {
    if (alert->rule->inhibited_by.len == 0)
        return NULL;
    const struct alert *other = find(alerts, alert->rule->inhibited_by, alert->subject);
    return other && other->state.stage == ALERT_FIRING &&
                   other->rule->severity > alert->rule->severity
               ? other
               : NULL;
}

/* Of an inhibited alert only the resolve notice is sent. One that has not fired yet stays pending,
 * and fires when the inhibiting alert is resolved first. */
static enum alert_step inhibited_step(struct alert *alert, struct wall now) {
    struct alert_state next = alert->state;
    enum alert_step told = alert_state_step(&next, alert->rule, alert->breached, now);
    if (told == ALERT_REPEAT)
        return ALERT_NOTHING;
    if (told == ALERT_FIRE)
        next = (struct alert_state){.stage = ALERT_PENDING, .since = next.since};
    alert->state = next;
    return told == ALERT_FIRE ? ALERT_NOTHING : told;
}

static void step(struct alerts *alerts, struct alert *alert, struct wall now) {
    enum alert_stage before = alert->state.stage;
    struct wall since = alert->state.since;
    enum alert_step told = alerts_inhibitor(alerts, alert)
                               ? inhibited_step(alert, now)
                               : alert_state_step(&alert->state, alert->rule, alert->breached, now);
    alert->breached = false;
    alert->changed |= told != ALERT_NOTHING || alert->state.stage != before;
    if (told == ALERT_NOTHING)
        return;
    if (alert->state.stage != ALERT_QUIET)
        since = alert->state.since;
    alerts_outbox_owe(alerts, alert, told, since, now);
}

static void read_samples(struct alerts *alerts, struct wall now) {
    struct arena arena;
    struct alert_sample *samples;
    arena_init_heap(&arena, 16 * 1024);
    size_t count = alerts->options.sample(alerts->options.arg, now, &arena, &samples);
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < alerts->options.rule_count; r++)
            if (concerns(&alerts->options.rules[r], &samples[i]))
                apply(alerts, &alerts->options.rules[r], &samples[i]);
    arena_free(&arena);
    /* Alerts that may inhibit others go first, so that of two that fire in one turn one notice is
     * sent. */
    for (int inhibited = 0; inhibited < 2; inhibited++) {
        LIST_EACH(node, &alerts->all) {
            struct alert *alert = CONTAINER_OF(node, struct alert, link);
            if ((alert->rule->inhibited_by.len > 0) == inhibited)
                step(alerts, alert, now);
        }
    }
}

/* ---- turns ---- */

static void read_mail(struct alerts *alerts) {
    struct mail *next;
    for (struct mail *mail = mailbox_take(&alerts->mailbox); mail; mail = next) {
        next = mail->next;
        struct alerts_post *post = CONTAINER_OF(mail, struct alerts_post, mail);
        assert(alerts->under_way > 0);
        alerts->under_way--;
        post->open(alerts, post);
    }
}

static int64_t until_next_state(struct alerts *alerts, struct wall now) {
    int64_t wait_ms = ALERTS_IDLE_MS;
    LIST_EACH(node, &alerts->all) {
        const struct alert *alert = CONTAINER_OF(node, struct alert, link);
        struct wall next = alert_state_next(&alert->state, alert->rule);
        if (next.ms != WALL_NEVER.ms && next.ms - now.ms < wait_ms &&
            !alerts_inhibitor(alerts, alert))
            wait_ms = next.ms > now.ms ? next.ms - now.ms : 0;
    }
    return wait_ms;
}

struct mono alerts_turn(struct alerts *alerts, struct instant now) {
    pthread_mutex_lock(&alerts->mutex);
    read_mail(alerts);
    struct mono soon = mono_after(now.mono, ALERTS_SOON_MS);
    if (now.mono.ms >= alerts->next_sample.ms && !alerts->stopping) {
        atomic_store(&alerts->woken, false);
        read_samples(alerts, now.wall);
        int64_t wait_ms = until_next_state(alerts, now.wall);
        alerts->next_sample =
            mono_after(now.mono, wait_ms > ALERTS_SOON_MS ? wait_ms : ALERTS_SOON_MS);
    } else if (atomic_load(&alerts->woken)) {
        alerts->next_sample = mono_earlier(alerts->next_sample, soon);
    }
    alerts_save_changed(alerts);
    if (!alerts->stopping)
        alerts_outbox_send(alerts, now);
    struct mono next = mono_earlier(alerts->next_sample, alerts_outbox_next(alerts));
    pthread_mutex_unlock(&alerts->mutex);
    return next;
}

/* Wakes the thread once until the next sample: thousands of letters a second must not wake it
 * thousands of times. */
void alerts_wake(struct alerts *alerts) {
    if (!atomic_exchange(&alerts->woken, true))
        mailbox_ring(&alerts->mailbox);
}

void alerts_run(struct alerts *alerts) {
    bool cancelled = false;
    for (;;) {
        struct mono next = alerts_turn(alerts, clock_now(alerts->options.clock));
        if (alerts->stopping && !cancelled) {
            alerts_outbox_cancel(alerts);
            cancelled = true;
        }
        if (alerts->stopping && alerts->under_way == 0)
            return;
        mailbox_wait(&alerts->mailbox, alerts->stopping ? MONO_NEVER : next);
    }
}

void alerts_stop(struct alerts *alerts) {
    alerts->stopping = true;
    mailbox_ring(&alerts->mailbox);
}

/* ---- start and stop ---- */

enum status alerts_new(const struct alerts_options *options, struct alerts **out, struct err *err) {
    struct alerts *alerts = memory_new(sizeof *alerts);
    alerts->options = *options;
    rng_seed(&alerts->rng, options->seed);
    list_init(&alerts->all);
    mailbox_init(&alerts->mailbox);
    pthread_mutex_init(&alerts->mutex, NULL);
    alerts_outbox_init(alerts);
    enum status status = alerts_save_load(alerts, err);
    if (status != STATUS_OK) {
        alerts_free(alerts);
        return status;
    }
    *out = alerts;
    return STATUS_OK;
}

void alerts_free(struct alerts *alerts) {
    assert(alerts == NULL || alerts->under_way == 0);
    if (!alerts)
        return;
    alerts_outbox_free(alerts);
    while (!list_empty(&alerts->all))
        alerts_drop(alerts, CONTAINER_OF(alerts->all.next, struct alert, link));
    map_free(&alerts->by_name);
    mailbox_free(&alerts->mailbox);
    pthread_mutex_destroy(&alerts->mutex);
    free(alerts);
}

/* ---- the list for the API ---- */

static int worse(const void *a, const void *b) {
    const struct alert *left = *(const struct alert *const *)a;
    const struct alert *right = *(const struct alert *const *)b;
    if (left->rule->severity != right->rule->severity)
        return left->rule->severity > right->rule->severity ? -1 : 1;
    if (left->state.since.ms != right->state.since.ms)
        return left->state.since.ms < right->state.since.ms ? -1 : 1;
    int order = bytes_cmp(left->rule->name, right->rule->name);
    return order ? order : bytes_cmp(left->subject, right->subject);
}

static void put_limit(struct json_out *json, const struct alert_rule *rule) {
    json_key(json, rule->below ? "below" : "above");
    json_put_double(json, rule->limit);
}

static void put_alert(struct json_out *json, struct alerts *alerts, const struct alert *alert) {
    char memory[ALERT_SUMMARY_MAX];
    struct buf summary;
    struct alert_notice notice = {.rule = alert->rule,
                                  .subject = alert->subject,
                                  .value = alert->value,
                                  .words = alert->words,
                                  .owner = alert->owner,
                                  .runbook = alert->runbook,
                                  .step = ALERT_FIRE};
    const struct alert *inhibitor = alerts_inhibitor(alerts, alert);
    buf_init_fixed(&summary, memory, sizeof memory);
    alert_notice_summary(&notice, &summary);
    json_open(json, '{');
    json_key(json, "alert");
    json_put(json, alert->rule->name);
    json_key(json, "state");
    json_put_str(json, alert_stage_text(alert->state.stage));
    json_key(json, "severity");
    json_put_str(json, alert_severity_words[alert->rule->severity]);
    json_key(json, "metric");
    json_put_str(json, alert_metric_text(alert->rule->metric));
    json_key(json, "subject");
    json_put(json, alert->subject);
    json_key(json, "value");
    json_put_double(json, alert->value);
    put_limit(json, alert->rule);
    json_member_time(json, "since", alert->state.since);
    json_member_time(json, "fired_at", alert->state.fired_at);
    json_member_time(json, "told_at", alert->state.told_at);
    json_key(json, "owed");
    json_put_i64(json, (int64_t)(alert->owed + alert->unsaved));
    json_key(json, "summary");
    json_put(json, buf_view(&summary));
    json_member_text(json, "owner", notice.owner);
    json_member_text(json, "runbook", alert_notice_runbook(&notice));
    json_member_text(json, "inhibited_by", inhibitor ? inhibitor->rule->name : BYTES_NONE);
    json_close(json, '}');
}

static void put_rule(struct json_out *json, const struct alert_rule *rule) {
    json_open(json, '{');
    json_key(json, "alert");
    json_put(json, rule->name);
    json_key(json, "severity");
    json_put_str(json, alert_severity_words[rule->severity]);
    json_key(json, "metric");
    json_put_str(json, alert_metric_text(rule->metric));
    json_key(json, "subject");
    json_put(json, rule->subject);
    put_limit(json, rule);
    json_key(json, "for_seconds");
    json_put_double(json, (double)rule->for_ms / 1000);
    json_member_text(json, "runbook", rule->runbook);
    json_member_text(json, "inhibited_by", rule->inhibited_by);
    json_key(json, "to");
    json_open(json, '[');
    for (size_t i = 0; i < rule->to_count; i++)
        json_put(json, rule->to[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void alerts_json(struct alerts *alerts, struct buf *out) {
    struct json_out json = json_out(out);
    size_t count = 0;
    pthread_mutex_lock(&alerts->mutex);
    struct alert **sorted = memory_array(alerts->by_name.count + 1, sizeof(struct alert *));
    LIST_EACH(node, &alerts->all) {
        struct alert *alert = CONTAINER_OF(node, struct alert, link);
        if (alert->state.stage != ALERT_QUIET)
            sorted[count++] = alert;
    }
    qsort(sorted, count, sizeof(struct alert *), worse);
    json_open(&json, '{');
    json_key(&json, "alerts");
    json_open(&json, '[');
    for (size_t i = 0; i < count; i++)
        put_alert(&json, alerts, sorted[i]);
    json_close(&json, ']');
    json_key(&json, "rules");
    json_open(&json, '[');
    for (size_t i = 0; i < alerts->options.rule_count; i++)
        put_rule(&json, &alerts->options.rules[i]);
    json_close(&json, ']');
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    pthread_mutex_unlock(&alerts->mutex);
    free(sorted);
}
