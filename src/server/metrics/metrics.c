#include "server/metrics/metrics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/classify.h"
#include "core/lifecycle.h"
#include "server/api/json/view_json.h"
#include "server/metrics/exposition.h"

/* ---- queues ---- */

static double queue_depth(const struct engine_queue_view *queue) {
    return (double)view_json_depth(queue);
}
static double queue_in_flight(const struct engine_queue_view *queue) {
    return (double)queue->in_flight;
}
static double queue_awaiting_room(const struct engine_queue_view *queue) {
    return (double)queue->counts.awaiting_room;
}
static double queue_lag(const struct engine_queue_view *queue) {
    return (double)queue->lag;
}
static double queue_source_connected(const struct engine_queue_view *queue) {
    return queue->source_connected;
}
static double queue_state(const struct engine_queue_view *queue) {
    return (double)queue->state;
}
static double queue_retries(const struct engine_queue_view *queue) {
    return (double)queue->retries;
}
static double queue_fallbacks(const struct engine_queue_view *queue) {
    return (double)queue->fallbacks;
}
static double queue_jq_errors(const struct engine_queue_view *queue) {
    return (double)queue->jq_errors;
}
static double queue_leases_expired(const struct engine_queue_view *queue) {
    return (double)queue->leases_expired;
}
static double queue_same_ids(const struct engine_queue_view *queue) {
    return (double)queue->same_ids;
}
static double queue_workers_waiting(const struct engine_queue_view *queue) {
    return (double)queue->workers_waiting;
}
static double queue_budget(const struct engine_queue_view *queue) {
    return queue->budget_remaining_ratio;
}
static double queue_breaker(const struct engine_queue_view *queue) {
    return (double)queue->breaker;
}
static double queue_breaker_open(const struct engine_queue_view *queue) {
    return (double)queue->breaker_open_ms / 1000;
}

static const struct {
    const char *name, *type, *help;
    double (*value)(const struct engine_queue_view *queue);
} queue_metrics[] = {
    {"impound_queue_depth", "gauge", "Messages held and not dead: queued, pending_retry, taken.",
     queue_depth},
    {"impound_queue_in_flight", "gauge", "Messages in a handler's hands.", queue_in_flight},
    {"impound_queue_awaiting_room", "gauge",
     "Messages that were judged dead and wait for room in a full DLQ.", queue_awaiting_room},
    {"impound_queue_lag", "gauge", "Messages at the source that were not received yet.", queue_lag},
    {"impound_source_connected", "gauge", "1 while messages can come from the source, else 0.",
     queue_source_connected},
    {"impound_source_same_id_total", "counter",
     "Messages of the source that came with an id which another message is held with.",
     queue_same_ids},
    {"impound_queue_state", "gauge", "0 running, 1 paused, 2 halted.", queue_state},
    {"impound_retries_total", "counter", "Attempts that were retries.", queue_retries},
    {"impound_fallbacks_total", "counter", "Hand-overs to a fallback.", queue_fallbacks},
    {"impound_jq_errors_total", "counter", "Rules whose jq program failed.", queue_jq_errors},
    {"impound_leases_expired_total", "counter", "Leases that ran out without an answer.",
     queue_leases_expired},
    {"impound_workers_waiting", "gauge", "Workers' requests that wait for a message to lease.",
     queue_workers_waiting},
    {"impound_retry_budget_remaining_ratio", "gauge", "Share of the retry budget that is left.",
     queue_budget},
    {"impound_breaker_state", "gauge", "0 closed, 1 open, 2 half open.", queue_breaker},
    {"impound_breaker_open_seconds", "gauge", "For how long the breaker has not been closed.",
     queue_breaker_open},
};

static void put_attempts(struct buf *out, const struct engine_queue_view *queues, size_t count) {
    exposition_head(out, "impound_attempts_total", "counter", "Attempts by how they ended.");
    for (size_t i = 0; i < count; i++) {
        for (int result = 0; result < RESULT_COUNT; result++) {
            buf_str(out, "impound_attempts_total{");
            exposition_label(out, "queue", bytes_of(queues[i].name));
            buf_char(out, ',');
            exposition_label(out, "result",
                             bytes_of(attempt_result_text((enum attempt_result)result)));
            buf_printf(out, "} %llu\n", (unsigned long long)queues[i].results[result]);
        }
    }
}

static void put_handler_seconds(struct buf *out, const struct engine_queue_view *queues,
                                size_t count) {
    exposition_head(out, "impound_handler_seconds", "histogram", "How long handlers took.");
    for (size_t i = 0; i < count; i++) {
        /* A name has 255 bytes at most, and each may need an escape. */
        char memory[640];
        struct buf labels;
        buf_init_fixed(&labels, memory, sizeof memory);
        exposition_label(&labels, "queue", bytes_of(queues[i].name));
        buf_char(&labels, ',');
        exposition_histogram(out, "impound_handler_seconds", buf_view(&labels),
                             engine_seconds_bounds, queues[i].seconds_buckets,
                             ENGINE_SECONDS_BUCKETS, queues[i].seconds_sum);
    }
}

static void put_queues(struct engine *engine, struct arena *arena, struct buf *out) {
    size_t count = engine_queue_count(engine);
    struct engine_queue_view *queues = arena_alloc(arena, (count + 1) * sizeof *queues);
    for (size_t i = 0; i < count; i++)
        engine_view_at(engine, i, &queues[i]);
    for (size_t m = 0; m < sizeof queue_metrics / sizeof *queue_metrics; m++) {
        exposition_head(out, queue_metrics[m].name, queue_metrics[m].type, queue_metrics[m].help);
        for (size_t i = 0; i < count; i++)
            exposition_sample(out, queue_metrics[m].name, "queue", bytes_of(queues[i].name),
                              queue_metrics[m].value(&queues[i]));
    }
    put_attempts(out, queues, count);
    put_handler_seconds(out, queues, count);
}

/* ---- DLQs ---- */

struct metrics_reasons {
    pthread_mutex_t mutex;
    char *names[METRICS_REASONS_MAX];
    size_t count;
};

struct metrics_reasons *metrics_reasons_new(void) {
    struct metrics_reasons *reasons = memory_new(sizeof *reasons);
    pthread_mutex_init(&reasons->mutex, NULL);
    return reasons;
}

void metrics_reasons_free(struct metrics_reasons *reasons) {
    if (!reasons)
        return;
    for (size_t i = 0; i < reasons->count; i++)
        free(reasons->names[i]);
    pthread_mutex_destroy(&reasons->mutex);
    free(reasons);
}

/* The type of an unclassified failure is not part of the label: there are too many types, and
 * groups separate them. */
static struct bytes without_type(struct bytes reason) {
    static const struct bytes unclassified = BYTES(CLASSIFY_UNKNOWN ":");
    return bytes_starts(reason, unclassified) ? bytes_cut(reason, 0, unclassified.len - 1) : reason;
}

static struct bytes fold_reason(struct metrics_reasons *reasons, struct bytes whole) {
    struct bytes reason = without_type(whole);
    struct bytes folded = BYTES("other");
    pthread_mutex_lock(&reasons->mutex);
    size_t i = 0;
    while (i < reasons->count && !bytes_is(reason, reasons->names[i]))
        i++;
    if (i == reasons->count && i < METRICS_REASONS_MAX)
        reasons->names[reasons->count++] = bytes_dup(reason);
    if (i < METRICS_REASONS_MAX)
        folded = reason;
    pthread_mutex_unlock(&reasons->mutex);
    return folded;
}

struct series {
    struct bytes category, reason;
    uint64_t count;
};

/* Maps "category\0reason" to series whose reason may be "other"; several of them become one. */
static size_t fold(struct metrics_reasons *reasons, const struct letters_dlq *dlq,
                   struct series *out) {
    size_t count = 0;
    for (size_t i = 0; i < dlq->arrived_count; i++) {
        struct bytes name = dlq->arrived[i].name;
        size_t split = bytes_find(name, (struct bytes){"\0", 1});
        struct bytes category = bytes_cut(name, 0, split);
        struct bytes reason = fold_reason(reasons, bytes_cut(name, split + 1, name.len));
        size_t at = 0;
        while (at < count &&
               !(bytes_eq(out[at].category, category) && bytes_eq(out[at].reason, reason)))
            at++;
        if (at == count)
            out[count++] = (struct series){category, reason, 0};
        out[at].count += dlq->arrived[i].count;
    }
    return count;
}

static void put_letters(struct buf *out, const struct view_json_dlq *dlqs, size_t count,
                        struct metrics_reasons *reasons, struct arena *arena) {
    exposition_head(out, "impound_dlq_letters_total", "counter", "Letters that ever arrived.");
    for (size_t i = 0; i < count; i++) {
        const struct letters_dlq *dlq = &dlqs[i].store;
        struct series *series = arena_alloc(arena, (dlq->arrived_count + 1) * sizeof *series);
        size_t series_count = fold(reasons, dlq, series);
        for (size_t s = 0; s < series_count; s++) {
            buf_str(out, "impound_dlq_letters_total{");
            exposition_label(out, "dlq", dlqs[i].name);
            buf_char(out, ',');
            exposition_label(out, "category", series[s].category);
            buf_char(out, ',');
            exposition_label(out, "reason", series[s].reason);
            buf_printf(out, "} %llu\n", (unsigned long long)series[s].count);
        }
    }
}

static void put_states(struct buf *out, const struct view_json_dlq *dlqs, size_t count) {
    exposition_head(out, "impound_dlq_letters_by_state", "gauge",
                    "Letters that the store holds, by state.");
    for (size_t i = 0; i < count; i++) {
        for (int state = 0; state < STATE_COUNT; state++) {
            if (!lifecycle_is_letter((enum state)state))
                continue;
            buf_str(out, "impound_dlq_letters_by_state{");
            exposition_label(out, "dlq", dlqs[i].name);
            buf_char(out, ',');
            exposition_label(out, "state", bytes_of(state_text((enum state)state)));
            buf_printf(out, "} %llu\n", (unsigned long long)dlqs[i].store.by_state[state]);
        }
    }
}

static double dlq_depth(const struct view_json_dlq *dlq, struct wall now) {
    (void)now;
    return (double)dlq->store.depth;
}
static double dlq_cap_ratio(const struct view_json_dlq *dlq, struct wall now) {
    (void)now;
    return dlq->configured && dlq->config.cap ? (double)dlq->store.depth / (double)dlq->config.cap
                                              : 0;
}
static double dlq_arrivals(const struct view_json_dlq *dlq, struct wall now) {
    (void)now;
    return (double)dlq->store.arrivals_last_minute;
}
static double dlq_spilled(const struct view_json_dlq *dlq, struct wall now) {
    (void)now;
    return (double)dlq->store.spilled;
}

static const struct {
    const char *name, *type, *help;
    double (*value)(const struct view_json_dlq *dlq, struct wall now);
} dlq_metrics[] = {
    {"impound_dlq_depth", "gauge", "Letters that wait for people or are being replayed.",
     dlq_depth},
    {"impound_dlq_oldest_age_seconds", "gauge", "Age of the oldest of them; 0 when there is none.",
     view_json_dlq_age_seconds},
    {"impound_dlq_cap_ratio", "gauge", "Depth as a share of the cap.", dlq_cap_ratio},
    {"impound_dlq_arrivals_per_minute", "gauge", "Letters that arrived in the last minute.",
     dlq_arrivals},
    {"impound_dlq_spilled_total", "counter", "Letters that went to the archive for want of room.",
     dlq_spilled},
};

static void put_dlqs(const struct server_options *options, struct metrics_reasons *reasons,
                     struct wall now, struct arena *arena, struct buf *out) {
    struct bytes *names;
    size_t named = view_json_dlq_names(options, arena, &names), count = 0;
    struct view_json_dlq *dlqs = arena_alloc(arena, (named + 1) * sizeof *dlqs);
    for (size_t i = 0; i < named; i++)
        count += view_json_dlq_find(options, names[i], now, arena, &dlqs[count]);
    for (size_t m = 0; m < sizeof dlq_metrics / sizeof *dlq_metrics; m++) {
        exposition_head(out, dlq_metrics[m].name, dlq_metrics[m].type, dlq_metrics[m].help);
        for (size_t i = 0; i < count; i++)
            exposition_sample(out, dlq_metrics[m].name, "dlq", dlqs[i].name,
                              dlq_metrics[m].value(&dlqs[i], now));
    }
    put_states(out, dlqs, count);
    put_letters(out, dlqs, count, reasons, arena);
}

/* ---- the store ---- */

static void put_store(struct store *store, struct buf *out) {
    struct store_health health;
    store->vtable->health(store, &health);
    exposition_gauge(out, "impound_store_writable", "1 while commits go through.", health.writable);
    exposition_gauge(out, "impound_store_fold_behind",
                     "Changes committed but not yet in the SQLite file.", (double)health.unlisted);
    for (size_t i = 0; i < health.gauge_count; i++)
        exposition_gauge(out, health.gauges[i].metric, health.gauges[i].help,
                         (double)health.gauges[i].value);
    exposition_head(out, "impound_store_commit_seconds", "histogram",
                    "How long group commits took.");
    exposition_histogram(out, "impound_store_commit_seconds", BYTES_NONE,
                         store_commit_bounds_seconds, health.commit_buckets, STORE_COMMIT_BUCKETS,
                         health.commit_seconds);
}

/* ---- memory ---- */

static void put_memory(const struct body_memory *memory, struct buf *out) {
    exposition_head(out, "impound_body_memory_bytes", "gauge", "Message bodies in memory, by use.");
    exposition_sample(out, "impound_body_memory_bytes", "side", BYTES("requests"),
                      (double)body_memory_used(memory, BODY_MEMORY_REQUESTS));
    exposition_sample(out, "impound_body_memory_bytes", "side", BYTES("messages"),
                      (double)body_memory_used(memory, BODY_MEMORY_MESSAGES));
    exposition_gauge(out, "impound_body_memory_limit_bytes",
                     "server.body_memory; requests and messages may use half of it each.",
                     (double)body_memory_limit(memory));
}

/* ---- replays ---- */

static void put_replays(struct replays *replays, struct buf *out) {
    struct replays_totals totals;
    if (!replays)
        return;
    replays_totals(replays, &totals);
    exposition_head(out, "impound_replay_active", "gauge", "Replays that are not over, by state.");
    for (int i = 0; i < REPLAY_STATE_COUNT; i++)
        exposition_sample(out, "impound_replay_active", "state",
                          bytes_of(replay_state_text((enum replay_state)i)),
                          (double)totals.active[i]);
    exposition_head(out, "impound_replay_letters_total", "counter",
                    "Letters of replays, by outcome.");
    for (int i = REPLAYED_SENT; i < REPLAY_OUTCOME_COUNT; i++)
        exposition_sample(out, "impound_replay_letters_total", "outcome",
                          bytes_of(replay_outcome_text((enum replay_outcome)i)),
                          (double)totals.letters.by[i]);
    exposition_counter(out, "impound_replay_aborted_total",
                       "Replays that were aborted, by people or by themselves.", totals.aborted);
}

/* ---- adoption ---- */

static void put_adoptions(struct adopt *adopt, struct buf *out) {
    struct adopt_view view;
    exposition_head(out, "impound_adopted_total", "counter",
                    "Dead letters of other systems that became letters, in this life.");
    for (size_t i = 0; i < adopt_count(adopt); i++) {
        adopt_look(adopt, i, &view);
        exposition_sample(out, "impound_adopted_total", "adopt", view.entry->name,
                          (double)view.adopted);
    }
    exposition_head(out, "impound_adopt_trouble", "gauge",
                    "1 while an entry of adopt cannot go on, else 0.");
    for (size_t i = 0; i < adopt_count(adopt); i++) {
        adopt_look(adopt, i, &view);
        exposition_sample(out, "impound_adopt_trouble", "adopt", view.entry->name,
                          view.trouble.text[0] != '\0');
    }
}

/* ---- triage rules ---- */

static void put_triage(struct triage_rules *rules, struct buf *out) {
    struct triage_rules_totals totals;
    triage_rules_totals(rules, BYTES_NONE, &totals);
    exposition_head(out, "impound_triage_total", "counter",
                    "Letters that triage rules took, by what they did with them.");
    for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
        exposition_sample(out, "impound_triage_total", "action", bytes_of(triage_rule_actions[i]),
                          (double)totals.letters[i]);
    const struct {
        const char *outcome;
        uint64_t count;
    } outcomes[] = {
        {"fixed", totals.fixed}, {"failed", totals.failed}, {"escalated", totals.escalated}};
    exposition_head(out, "impound_triage_outcomes_total", "counter",
                    "What became of letters that triage rules took.");
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        exposition_sample(out, "impound_triage_outcomes_total", "outcome",
                          bytes_of(outcomes[i].outcome), (double)outcomes[i].count);
    exposition_gauge(out, "impound_triage_stopped", "Triage rules that stopped themselves.",
                     (double)totals.stopped);
}

/* ---- spans ---- */

static void put_spans(struct spans *spans, struct buf *out) {
    struct spans_counts counts = {0};
    if (spans)
        spans->vtable->counts(spans, &counts);
    exposition_counter(out, "impound_spans_sent_total", "Spans that the receiver took.",
                       counts.sent);
    exposition_counter(out, "impound_spans_dropped_total",
                       "Spans that were not sent, for want of room, or that the receiver refused.",
                       counts.dropped);
}

void metrics_write(const struct server_options *options, struct metrics_reasons *reasons,
                   struct wall now, struct arena *arena, struct buf *out) {
    exposition_head(out, "impound_build_info", "gauge", "Always 1; the version is a label.");
    exposition_sample(out, "impound_build_info", "version", options->version, 1);
    put_queues(options->engine, arena, out);
    put_dlqs(options, reasons, now, arena, out);
    put_replays(options->replays, out);
    put_adoptions(options->adopt, out);
    put_triage(options->rules, out);
    put_store(options->store, out);
    put_memory(options->memory, out);
    put_spans(options->spans, out);
}
