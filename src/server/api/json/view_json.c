#include "server/api/json/view_json.h"

#include "base/containers/map.h"
#include "core/lifecycle.h"

enum { WHY_MAX = 1024 };

uint64_t view_json_depth(const struct engine_queue_view *queue) {
    return queue->counts.queued + queue->counts.pending_retry + queue->counts.taken;
}

void view_json_number(struct json_out *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_put_i64(json, (int64_t)value);
}

void view_json_time(struct json_out *json, const char *key, struct wall at) {
    char text[INSTANT_TEXT_SIZE];
    json_key(json, key);
    if (at.ms == WALL_NEVER.ms)
        json_put_null(json);
    else
        json_put_str(json, wall_text(at, text));
}

static void put_text_or_null(struct json_out *json, const char *key, struct bytes text) {
    json_key(json, key);
    json_put(json, text.len > 0 ? text : BYTES_NONE);
}

static void put_breaker(struct json_out *json, const struct engine_queue_view *queue) {
    json_open(json, '{');
    json_key(json, "state");
    json_put_str(json, breaker_state_text(queue->breaker));
    view_json_time(json, "until",
                   queue->breaker == BREAKER_OPEN ? queue->breaker_until : WALL_NEVER);
    json_close(json, '}');
}

void view_json_rates(struct json_out *json, const struct engine_rates *rates) {
    json_open(json, '{');
    view_json_number(json, "in_per_minute", rates->in);
    view_json_number(json, "ok_per_minute", rates->ok);
    view_json_number(json, "failed_per_minute", rates->failed);
    json_close(json, '}');
}

void view_json_put_full(const struct engine_queue_view *queue, struct buf *text) {
    unsigned long long waiting = queue->counts.awaiting_room;
    buf_printf(text, "dlq %s is full", queue->full_dlqs[0] ? queue->full_dlqs : "of this queue");
    if (waiting > 0)
        buf_printf(text, ": %llu message%s for room", waiting, waiting == 1 ? " waits" : "s wait");
    if (queue->receives_nothing)
        buf_str(text, "; nothing more is received");
}

/* A running queue that receives nothing has a reason as well. */
static struct bytes why_of(const struct engine_queue_view *queue, struct buf *text) {
    if (queue->state == QUEUE_RUNNING && queue->breaker != BREAKER_CLOSED) {
        buf_printf(text, "the handler fails for everybody, the last failure: %s",
                   queue->breaker_why);
        return buf_view(text);
    }
    if (queue->checking) {
        buf_printf(text, "a message was refused, and another is tried before the queue halts: %s",
                   queue->why);
        return buf_view(text);
    }
    if (queue->state == QUEUE_RUNNING && queue->counts.unreadable > 0) {
        buf_printf(
            text, "%llu message%s cannot be read%s, the last is %s",
            (unsigned long long)queue->counts.unreadable, queue->counts.unreadable == 1 ? "" : "s",
            queue->ordered ? " and what has the same key waits" : "", queue->counts.unreadable_why);
        return buf_view(text);
    }
    if (queue->state == QUEUE_RUNNING && (queue->dlq_full || queue->receives_nothing)) {
        view_json_put_full(queue, text);
        return buf_view(text);
    }
    if (queue->state == QUEUE_RUNNING && !queue->source_connected)
        return bytes_of(queue->source_trouble);
    if (queue->state == QUEUE_RUNNING && queue->sink_trouble[0])
        return bytes_of(queue->sink_trouble);
    return bytes_of(queue->why);
}

void view_json_queue(struct json_out *json, const struct engine_queue_view *queue) {
    char memory[WHY_MAX];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    json_open(json, '{');
    json_key(json, "queue");
    json_put_str(json, queue->name);
    json_key(json, "state");
    json_put_str(json, queue_state_text(queue->state));
    put_text_or_null(json, "why", why_of(queue, &why));
    view_json_number(json, "depth", view_json_depth(queue));
    view_json_number(json, "in_flight", queue->in_flight);
    view_json_number(json, "pending_retry", queue->counts.pending_retry);
    view_json_number(json, "awaiting_room", queue->counts.awaiting_room);
    view_json_number(json, "delayed", queue->counts.delayed);
    json_key(json, "breaker");
    put_breaker(json, queue);
    json_key(json, "budget");
    json_open(json, '{');
    json_key(json, "remaining_ratio");
    json_put_double(json, queue->budget_remaining_ratio);
    json_close(json, '}');
    view_json_number(json, "lag", queue->lag);
    json_key(json, "rates");
    view_json_rates(json, &queue->rates);
    json_key(json, "dlq_full");
    json_put_bool(json, queue->dlq_full);
    json_key(json, "concurrency");
    if (queue->concurrency == ENGINE_UNLIMITED)
        json_put_null(json);
    else
        json_put_i64(json, queue->concurrency);
    put_text_or_null(json, "source", bytes_of(queue->source));
    put_text_or_null(json, "source_trouble", bytes_of(queue->source_trouble));
    json_key(json, "versions");
    json_open(json, '[');
    for (size_t i = 0; i < queue->version_count; i++)
        json_put_str(json, queue->versions[i]);
    json_close(json, ']');
    put_text_or_null(json, "handler", bytes_of(queue->handler));
    json_close(json, '}');
}

void view_json_walked(struct json_out *json, const struct selection_result *walked) {
    if (walked->behind > 0)
        view_json_number(json, "behind", walked->behind);
    if (walked->read_only > 0)
        view_json_number(json, "read_only", walked->read_only);
    if (walked->damaged > 0)
        view_json_number(json, "damaged", walked->damaged);
    if (walked->skipped == 0)
        return;
    view_json_number(json, "skipped", walked->skipped);
    json_key(json, "skipped_why");
    json_put_str(json, walked->first_skipped.text);
}

bool view_json_dlq_find(const struct server_options *options, struct bytes name, struct wall now,
                        struct arena *arena, struct view_json_dlq *out) {
    const struct live_config *config = &options->config;
    struct store *store = options->store;
    *out = (struct view_json_dlq){.name = name};
    out->configured = config->dlq(config->arg, name, &out->config);
    out->used = letters_dlq(store->letters, name, now, arena, &out->store, NULL) == STATUS_OK;
    triage_rules_totals(options->rules, name, &out->triage);
    return out->configured || out->used;
}

bool view_json_dlq_is_over(const struct view_json_dlq *dlq) {
    uint64_t held = dlq->store.spilled;
    for (int state = 0; state < STATE_COUNT; state++)
        held += dlq->store.by_state[state];
    return !dlq->configured && held == 0;
}

struct listed_dlq {
    struct map_node node;
    struct bytes name;
};

static bool is_listed(const struct map *map, struct bytes name, uint64_t hash) {
    for (struct map_node *node = map_first(map, hash); node; node = map_next(node)) {
        if (bytes_eq(((struct listed_dlq *)(void *)node)->name, name))
            return true;
    }
    return false;
}

static size_t add_new(struct map *map, struct arena *arena, const struct bytes *names, size_t count,
                      struct bytes *out) {
    size_t added = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = bytes_hash(names[i]);
        if (is_listed(map, names[i], hash))
            continue;
        struct listed_dlq *listed = arena_alloc(arena, sizeof *listed);
        listed->name = names[i];
        map_insert(map, &listed->node, hash);
        out[added++] = names[i];
    }
    return added;
}

size_t view_json_dlq_names(const struct server_options *options, struct arena *arena,
                           struct bytes **out) {
    const struct live_config *config = &options->config;
    struct bytes *configured, *used;
    size_t most_configured = config->dlq_names(config->arg, arena, &configured);
    size_t most_used;
    (void)letters_dlq_names(options->store->letters, arena, &used, &most_used, NULL);
    struct bytes *all =
        arena_alloc(arena, (most_configured + most_used + 1) * sizeof(struct bytes));
    struct map map = {0};
    /* Queues may share a DLQ, so the configuration may name one twice. */
    size_t count = add_new(&map, arena, configured, most_configured, all);
    count += add_new(&map, arena, used, most_used, all + count);
    map_free(&map);
    *out = all;
    return count;
}

double view_json_dlq_age_seconds(const struct view_json_dlq *dlq, struct wall now) {
    int64_t oldest = dlq->store.oldest.ms;
    /* The wall clock may have been set back since the letter was written. */
    return oldest == WALL_NEVER.ms || oldest > now.ms ? 0 : (double)(now.ms - oldest) / 1000;
}

static void put_counts(struct json_out *json, const char *key, const struct store_count *counts,
                       size_t count) {
    json_key(json, key);
    json_open(json, '{');
    for (size_t i = 0; i < count; i++) {
        json_key_bytes(json, counts[i].name);
        json_put_i64(json, (int64_t)counts[i].count);
    }
    json_close(json, '}');
}

static void put_ages(struct json_out *json, const struct view_json_dlq *dlq) {
    static const char *const names[LETTERS_AGE_BUCKETS] = {"1m", "10m", "1h", "6h", "24h", "older"};
    json_key(json, "age_histogram");
    json_open(json, '{');
    for (size_t i = 0; i < LETTERS_AGE_BUCKETS; i++)
        view_json_number(json, names[i], dlq->store.ages[i]);
    json_close(json, '}');
}

static void put_share(struct json_out *json, const char *key, uint64_t part, uint64_t whole) {
    json_key(json, key);
    if (whole == 0)
        json_put_null(json);
    else
        json_put_double(json, part < whole ? 100 * (double)part / (double)whole : 100);
}

/* A letter whose replay by a rule failed has arrived once more. */
void view_json_triage_shares(struct json_out *json, const struct triage_rules_totals *totals,
                             uint64_t arrivals) {
    uint64_t letters = arrivals > totals->failed ? arrivals - totals->failed : arrivals;
    put_share(json, "auto_fixed_percent", totals->fixed, letters);
    put_share(json, "escalated_percent", totals->escalated, letters);
}

void view_json_dlq_states(struct json_out *json, const struct view_json_dlq *dlq) {
    json_key(json, "by_state");
    json_open(json, '{');
    for (int state = 0; state < STATE_COUNT; state++)
        if (lifecycle_is_letter((enum state)state))
            view_json_number(json, state_text((enum state)state), dlq->store.by_state[state]);
    json_close(json, '}');
}

void view_json_dlq(struct json_out *json, const struct server_options *options,
                   const struct view_json_dlq *dlq, struct wall now) {
    const struct letters_dlq *store = &dlq->store;
    json_open(json, '{');
    json_key(json, "dlq");
    json_put(json, dlq->name);
    view_json_number(json, "depth", store->depth);
    json_key(json, "cap");
    if (dlq->configured)
        json_put_i64(json, (int64_t)dlq->config.cap);
    else
        json_put_null(json);
    view_json_number(json, "spilled", store->spilled);
    view_json_number(json, "total", store->total);
    view_json_number(json, "arrivals_per_minute", store->arrivals_last_minute);
    json_key(json, "oldest_age_seconds");
    if (store->depth > 0)
        json_put_double(json, view_json_dlq_age_seconds(dlq, now));
    else
        json_put_null(json);
    view_json_dlq_states(json, dlq);
    put_counts(json, "by_category", store->by_category, store->category_count);
    put_counts(json, "by_reason", store->by_reason, store->reason_count);
    put_ages(json, dlq);
    put_text_or_null(json, "owner", dlq->configured ? dlq->config.owner : BYTES_NONE);
    view_json_triage_shares(json, &dlq->triage, store->total);
    json_key(json, "triage");
    triage_rules_put(options->rules, dlq->name, json);
    json_key(json, "adoptions");
    adopt_put(options->adopt, dlq->name, json);
    json_close(json, '}');
}
