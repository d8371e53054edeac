#include "app/alarm/alarm_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "triage/groups/arrivals.h"
#include "triage/groups/group.h"

enum {
    MINUTE_MS = 60 * 1000,
    REASON_USUAL_MINUTES = 60, /* the window of a reason's usual rate */
    REASON_KNOWN_MINUTES = 10, /* before a reason has a usual rate */
    REASON_LEAST = 10,         /* reasons with fewer arrivals per minute raise no alert */
    RATIO_LEAST_ATTEMPTS = 20, /* with fewer attempts per minute a ratio means nothing */
    NEWS_MS = 10 * MINUTE_MS,  /* how long a group counts as new, or as returned */
    SUBJECT_MAX = 512,
};

/* One reason of one DLQ. */
struct reason {
    struct map_node node;
    char *name; /* "dlq\0category\0reason" */
    size_t len;
    uint64_t total;
    double last, usual; /* arrivals per minute */
    uint32_t minutes;
    bool new; /* it first appeared while the process ran, so its usual rate is known */
};

/* Readings under construction. */
struct readings {
    struct arena *arena;
    struct alert_sample *list;
    size_t count, cap;
};

static void add(struct readings *readings, enum alert_metric metric, struct bytes subject,
                double value, struct bytes words) {
    if (readings->count == readings->cap) {
        size_t cap = readings->cap ? readings->cap * 2 : 256;
        struct alert_sample *list = arena_alloc(readings->arena, cap * sizeof *list);
        for (size_t i = 0; i < readings->count; i++)
            list[i] = readings->list[i];
        readings->list = list;
        readings->cap = cap;
    }
    readings->list[readings->count++] =
        (struct alert_sample){.metric = metric, .subject = subject, .value = value, .words = words};
}

/* ---- queues ---- */

static void add_success(struct readings *readings, struct bytes name,
                        const struct engine_rates *rates) {
    uint64_t attempts = rates->ok + rates->failed;
    if (attempts >= RATIO_LEAST_ATTEMPTS)
        add(readings, METRIC_SUCCESS_RATIO, name, (double)rates->ok / (double)attempts, BYTES_NONE);
}

/* "52 of 60 first attempts died of bad_request, consumer version v2; the queue is halted" */
static void add_flood(struct readings *readings, const struct engine_flood *flood) {
    struct buf subject, words;
    buf_init_fixed(&subject, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
    buf_init_fixed(&words, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
    buf_printf(&subject, "%s/%016llx", flood->dlq, (unsigned long long)flood->fingerprint);
    buf_printf(&words, "%u of %u first attempts died of %s, consumer version %s%s", flood->dead,
               flood->of, flood->reason, flood->version[0] ? flood->version : "unknown",
               flood->held ? "; the queue is halted" : "");
    add(readings, METRIC_FLOOD, buf_view(&subject), 1, buf_view(&words));
}

static void add_motion(struct alarm_sampler *sampler, struct readings *readings, struct bytes name,
                       const struct engine_queue_view *view) {
    struct mono now = triage_now(sampler->triage).mono;
    struct alarm_motion_reading reading = alarm_motion_read(&sampler->motion, view, now);
    struct buf words;
    buf_init_fixed(&words, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
    buf_printf(&words, "%llu messages wait%s", (unsigned long long)reading.due,
               strcmp(view->handler, "lease") == 0 ? "; no worker leases them" : "");
    add(readings, METRIC_QUEUE_STALLED, name, reading.stalled_seconds, buf_view(&words));
    add(readings, METRIC_SOURCE_UNREACHABLE, name, reading.unreachable_seconds,
        arena_dup(readings->arena, bytes_of(view->source_trouble)));
}

static void add_queue(struct readings *readings, const struct engine_queue_view *view) {
    struct bytes name = arena_dup(readings->arena, bytes_of(view->name));
    struct bytes why = arena_dup(readings->arena, bytes_of(view->why));
    add(readings, METRIC_QUEUE_LAG, name, (double)view->lag, BYTES_NONE);
    add(readings, METRIC_BREAKER_OPEN, name, (double)view->breaker_open_ms / 1000, BYTES_NONE);
    add(readings, METRIC_QUEUE_HALTED, name, view->state == QUEUE_HALTED, why);
    add(readings, METRIC_BUDGET_EXHAUSTED, name, view->budget_remaining_ratio <= 0, BYTES_NONE);
    add(readings, METRIC_UNREADABLE, name, (double)view->counts.unreadable,
        arena_dup(readings->arena, bytes_of(view->counts.unreadable_why)));
    if (view->flood.on)
        add_flood(readings, &view->flood);
    add_success(readings, name, &view->rates);
}

static void add_queues(struct alarm_sampler *sampler, struct readings *readings) {
    struct engine_queue_view view;
    for (size_t i = 0; engine_view_at(sampler->engine, i, &view); i++) {
        add_queue(readings, &view);
        add_motion(sampler, readings, arena_dup(readings->arena, bytes_of(view.name)), &view);
    }
}

/* ---- DLQs ---- */

/* Seconds until the cap at the rate of the last minute. */
static void add_cap(struct alarm_sampler *sampler, struct readings *readings,
                    const struct letters_dlq *dlq) {
    struct engine_dlq config;
    if (!sampler->dlq(sampler->arg, dlq->name, &config))
        return;
    add(readings, METRIC_DLQ_CAP_RATIO, dlq->name, (double)dlq->depth / (double)config.cap,
        BYTES_NONE);
    uint64_t left = dlq->depth < config.cap ? config.cap - dlq->depth : 0;
    bool full = left == 0 || engine_dlq_is_full(sampler->engine, dlq->name);
    if (full) /* as long as it is full, whether or not letters arrive */
        add(readings, METRIC_CAP_FORECAST, dlq->name, 0, BYTES("it is full"));
    else if (dlq->arrivals_last_minute > 0)
        add(readings, METRIC_CAP_FORECAST, dlq->name,
            (double)left * 60 / (double)dlq->arrivals_last_minute, BYTES_NONE);
}

static struct reason *reason_of(struct alarm_sampler *sampler, struct bytes dlq,
                                struct bytes name) {
    char memory[SUBJECT_MAX];
    struct buf key;
    buf_init_fixed(&key, memory, sizeof memory);
    buf_bytes(&key, dlq);
    buf_char(&key, '\0');
    buf_bytes(&key, bytes_clip(name, SUBJECT_MAX - dlq.len - 2));
    struct bytes whole = buf_view(&key);
    struct map_node *node = map_first(&sampler->reasons, bytes_hash(whole));
    for (; node; node = map_next(node)) {
        struct reason *reason = CONTAINER_OF(node, struct reason, node);
        if (bytes_eq((struct bytes){reason->name, reason->len}, whole))
            return reason;
    }
    struct reason *reason = memory_new(sizeof *reason);
    reason->name = bytes_dup(whole);
    reason->len = whole.len;
    map_insert(&sampler->reasons, &reason->node, bytes_hash(whole));
    return reason;
}

/* Called once a minute: the usual rate follows slowly. A reason that was missing from the count
 * before is new: its usual rate is 0. */
static void count_minute(struct reason *reason, uint64_t total, double minutes, bool new) {
    bool first = reason->minutes == 0;
    reason->new |= first &&new;
    reason->last = first && !new ? 0 : (double)(total - reason->total) / minutes;
    reason->total = total;
    if (!first)
        reason->usual += (reason->last - reason->usual) / REASON_USUAL_MINUTES;
    reason->minutes++;
}

static void add_reason(struct alarm_sampler *sampler, struct readings *readings,
                       const struct letters_dlq *dlq, const struct store_count *arrived,
                       double minutes) {
    struct reason *reason = reason_of(sampler, dlq->name, arrived->name);
    if (minutes > 0)
        count_minute(reason, arrived->count, minutes, sampler->counted);
    bool known = reason->new || reason->minutes > REASON_KNOWN_MINUTES;
    if (!known || reason->last < REASON_LEAST)
        return;
    size_t cut = bytes_find(arrived->name, BYTES("\0"));
    struct bytes words = bytes_cut(arrived->name, cut + 1, arrived->name.len);
    double usual = reason->usual > 1 ? reason->usual : 1;
    struct buf subject;
    buf_init_fixed(&subject, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
    buf_printf(&subject, "%.*s/%.*s", BYTES_ARG(dlq->name), BYTES_ARG(bytes_clip(words, 200)));
    add(readings, METRIC_REASON_RATIO, buf_view(&subject), reason->last / usual, words);
}

static void add_dlq(struct alarm_sampler *sampler, struct readings *readings,
                    const struct letters_dlq *dlq, struct wall now, double minutes) {
    add(readings, METRIC_DLQ_DEPTH, dlq->name, (double)dlq->depth, BYTES_NONE);
    add(readings, METRIC_DLQ_ARRIVALS, dlq->name, (double)dlq->arrivals_last_minute, BYTES_NONE);
    add(readings, METRIC_SPILLED, dlq->name, (double)dlq->spilled, BYTES_NONE);
    if (dlq->oldest.ms != WALL_NEVER.ms)
        add(readings, METRIC_DLQ_OLDEST, dlq->name, (double)(now.ms - dlq->oldest.ms) / 1000,
            BYTES_NONE);
    add_cap(sampler, readings, dlq);
    for (size_t i = 0; i < dlq->arrived_count; i++)
        add_reason(sampler, readings, dlq, &dlq->arrived[i], minutes);
}

static double minutes_since(struct alarm_sampler *sampler, struct wall now) {
    int64_t passed = now.ms - sampler->read_before.ms;
    if (passed >= 0 && passed < MINUTE_MS)
        return 0;
    sampler->read_before = now;
    return passed > 0 ? (double)passed / MINUTE_MS : 1;
}

static void add_dlqs(struct alarm_sampler *sampler, struct readings *readings, struct wall now) {
    struct store *store = sampler->store;
    struct bytes *names;
    double minutes = minutes_since(sampler, now);
    size_t count;
    (void)letters_dlq_names(store->letters, readings->arena, &names, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        struct letters_dlq dlq;
        if (letters_dlq(store->letters, names[i], now, readings->arena, &dlq, NULL) == STATUS_OK)
            add_dlq(sampler, readings, &dlq, now, minutes);
    }
    sampler->counted |= minutes > 0;
}

/* ---- groups ---- */

static void add_groups(struct alarm_sampler *sampler, struct readings *readings) {
    struct group_news *news;
    size_t count = group_watch(sampler->triage, NEWS_MS, readings->arena, &news);
    for (size_t i = 0; i < count; i++) {
        struct buf subject;
        buf_init_fixed(&subject, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
        buf_printf(&subject, "%.*s/%016llx", BYTES_ARG(news[i].dlq),
                   (unsigned long long)news[i].fingerprint);
        add(readings, news[i].returned ? METRIC_GROUP_RETURNED : METRIC_GROUP_NEW,
            buf_view(&subject), 1, news[i].failure);
    }
}

/* ---- replays ---- */

static void add_replays(struct alarm_sampler *sampler, struct readings *readings, struct wall now) {
    struct replays_relapse relapses[REPLAYS_RELAPSES_MAX];
    size_t count = replays_relapses(sampler->replays, relapses);
    for (size_t i = 0; i < count; i++) {
        char subject[SUBJECT_MAX];
        if (now.ms - relapses[i].at.ms > NEWS_MS)
            continue;
        snprintf(subject, sizeof subject, "%.255s/%.36s", relapses[i].queue, relapses[i].id);
        add(readings, METRIC_REPLAY_ABORTED, arena_dup(readings->arena, bytes_of(subject)), 1,
            arena_dup(readings->arena, bytes_of(relapses[i].why)));
    }
}

/* ---- triage rules ---- */

/* The letters of a rule's ticket, whose id is at the end of the subject. */
static void add_letters(struct alert_sample *sample, const struct escalation_record *records,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!records[i].of_rule || !bytes_ends(sample->subject, records[i].id))
            continue;
        sample->letters = records[i].letters;
        sample->value = (double)records[i].count;
    }
}

static void add_escalations(struct readings *readings, const struct escalation_record *records,
                            size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct buf subject, words;
        if (records[i].of_rule)
            continue;
        buf_init_fixed(&subject, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
        buf_printf(&subject, "%.*s/%.*s", BYTES_ARG(records[i].dlq), BYTES_ARG(records[i].id));
        buf_init_fixed(&words, arena_alloc(readings->arena, SUBJECT_MAX), SUBJECT_MAX);
        buf_printf(&words, "%llu letter%s %.*s", (unsigned long long)records[i].count,
                   records[i].count == 1 ? "" : "s", BYTES_ARG(records[i].words));
        add(readings, METRIC_TRIAGE_ESCALATED, buf_view(&subject), (double)records[i].count,
            buf_view(&words));
        readings->list[readings->count - 1].letters = records[i].letters;
    }
}

static void add_rules(struct alarm_sampler *sampler, struct readings *readings, struct wall now) {
    struct triage_rules_news *news;
    struct escalation_record records[ESCALATION_PAGE];
    size_t told = alert_escalations_read(&sampler->escalations, sampler->triage, now,
                                         readings->arena, records);
    add_escalations(readings, records, told);
    size_t count = triage_rules_news(sampler->rules, readings->arena, &news);
    for (size_t i = 0; i < count; i++) {
        add(readings, news[i].ticket ? METRIC_TRIAGE_ESCALATED : METRIC_TRIAGE_STOPPED,
            news[i].subject, 1, news[i].words);
        struct alert_sample *sample = &readings->list[readings->count - 1];
        sample->to = news[i].to;
        sample->to_count = news[i].to_count;
        if (news[i].ticket)
            add_letters(sample, records, told);
    }
}

size_t alarm_sample(void *arg, struct wall now, struct arena *arena, struct alert_sample **out) {
    struct alarm_sampler *sampler = arg;
    struct readings readings = {.arena = arena};
    arrivals_read(sampler->triage->arrivals);
    add_queues(sampler, &readings);
    add_dlqs(sampler, &readings, now);
    add_groups(sampler, &readings);
    add_replays(sampler, &readings, now);
    add_rules(sampler, &readings, now);
    *out = readings.list;
    return readings.count;
}

void alarm_about(void *arg, bool dlq, struct bytes name, struct alert_about *out) {
    const struct alarm_sampler *sampler = arg;
    if (sampler->about)
        sampler->about(sampler->arg, dlq, name, out);
}

static void drop_reason(struct map_node *node) {
    struct reason *reason = CONTAINER_OF(node, struct reason, node);
    free(reason->name);
    free(reason);
}

void alarm_sampler_free(struct alarm_sampler *sampler) {
    map_drain(&sampler->reasons, drop_reason);
    alarm_motion_free(&sampler->motion);
}
