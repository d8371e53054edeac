#include "app/what_if/behaviour.h"

#include "base/json/json.h"
#include "base/log.h"

enum { CHUNK = 1024, NOTE_MAX = 256, LINES_MAX = 64 * 1024 };

#define NOTE BYTES("started") /* SPACE_VERSION: {"version": …, "changes": rows of the table} */

/* ---- settings in use ---- */

static bool uses_preset(const struct config_queue *queue, enum preset preset) {
    for (size_t i = 0; i < queue->policy.preset_count; i++)
        if (queue->policy.presets[i] == preset)
            return true;
    return false;
}

static bool queue_uses_errors(const struct config_queue *queue) {
    return uses_preset(queue, PRESET_ERRORS);
}

static bool queue_uses_ai(const struct config_queue *queue) {
    return uses_preset(queue, PRESET_AI_API);
}

static bool queue_uses_presets(const struct config_queue *queue) {
    return queue->policy.preset_count > 0;
}

static bool queue_calls_http(const struct config_queue *queue) {
    return queue->handler_count > 0 && queue->handlers[0].kind == HANDLER_HTTP;
}

static bool queue_falls_back(const struct config_queue *queue) {
    return queue->handler_count > 1;
}

static bool queue_compensates(const struct config_queue *queue) {
    return queue->compensate != NULL;
}

static bool queue_has_breaker(const struct config_queue *queue) {
    return !queue->policy.breaker.off;
}

static bool queue_blocks_when_full(const struct config_queue *queue) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (queue->dlqs[i].on_full == ON_FULL_BLOCK)
            return true;
    return false;
}

static bool queue_mirrors_to_rabbitmq(const struct config_queue *queue) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (bytes_starts(queue->dlqs[i].mirror, BYTES("amqp")))
            return true;
    return false;
}

static bool queue_alerts_of_floods(const struct config_queue *queue) {
    return queue->flood.then == FLOOD_ALERT;
}

static bool queue_has_broker(const struct config_queue *queue) {
    return !bytes_is(queue->source, "builtin");
}

static bool queue_is_at_nats(const struct config_queue *queue) {
    return bytes_starts(queue->source, BYTES("nats:")) ||
           bytes_starts(queue->source, BYTES("tls:"));
}

static bool queue_is_at_rabbitmq(const struct config_queue *queue) {
    return bytes_starts(queue->source, BYTES("amqp"));
}

static bool queue_has_triage(const struct config_queue *queue) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (queue->triage && queue->triage[i].rules.count > 0)
            return true;
    return false;
}

static bool has_default_alerts(const struct config *config) {
    return !config->alerts.no_defaults;
}

static bool always(const struct config *config) {
    (void)config;
    return true;
}

static bool takes_adopted(const struct config *config) {
    for (size_t i = 0; i < config->adopt_count; i++)
        if (config->adopts[i].entry.mode == ADOPT_TAKE)
            return true;
    return false;
}

static bool adopts_from_rabbitmq(const struct config *config) {
    for (size_t i = 0; i < config->adopt_count; i++)
        if (bytes_starts(config->adopts[i].entry.source, BYTES("amqp")))
            return true;
    return false;
}

static bool runs_jq(const struct config *config) {
    return config->programs != NULL;
}

/* Rows are added at the end and never removed: a store notes how many it knows. */
static const struct {
    const char *since;   /* the first version with the change */
    const char *setting; /* as written in docs/config.md */
    const char *now;     /* the present meaning */
    /* One of the two is set. The line has the names of the affected queues. */
    bool (*concerns_queue)(const struct config_queue *queue);
    bool (*concerns)(const struct config *config);
} changes[] = {
    {"0.1.0", "classify.presets: errors",
     "judges the exceptions of common clients by family; those that are retried count for the "
     "breaker, also from an exec worker that exits with 1; refused credentials halt the queue",
     queue_uses_errors, NULL},
    {"0.1.0", "poison.crashes",
     "a connection reset counts only while the breaker is closed and another message succeeded "
     "within the last minute on a connection opened later",
     queue_calls_http, NULL},
    {"0.1.0", "dlq.triage",
     "a rule's replay judges each letter by itself, without canary and abort unless the rule says "
     "canary, and its limit takes the oldest letters",
     queue_has_triage, NULL},
    {"0.1.0", "classify.presets",
     "a halt of a preset (401, 403, quota) is checked with up to three other messages before the "
     "queue stops; a message that is refused while others succeed is dead-lettered",
     queue_uses_presets, NULL},
    {"0.1.0", "classify.presets: ai-api",
     "judges by status, type, code and the start of a message; every 404 is model_gone, 502, 503 "
     "and 504 are retried instead of going to the fallback, and a 200 with an error, an empty or a "
     "cut answer is a failure",
     queue_uses_ai, NULL},
    {"0.1.0", "fallback",
     "a fallback whose credentials or quota are refused is retried and no longer halts the queue",
     queue_falls_back, NULL},
    {"0.1.0", "compensate",
     "a compensation that is refused leaves its letter as it was and no longer halts the queue",
     queue_compensates, NULL},
    {"0.1.0", "breaker.open",
     "without evidence of an outage (5 distinct messages failed since the last success) the "
     "breaker stays open for up to 1m, whatever open says",
     queue_has_breaker, NULL},
    {"0.1.0", "retry.attempts and retry.max_age",
     "without evidence of an outage they bound failed probes too: a message is dead when attempts "
     "and probes together reach retry.attempts + 8; and while the breaker is open a failure counts "
     "if another message has succeeded since this message's last failure",
     queue_has_breaker, NULL},
    {"0.1.0", "retry.retry_after_cap",
     "also bounds x-ratelimit-reset headers and waits that the text of a 429 names, which are "
     "obeyed now",
     queue_calls_http, NULL},
    {"0.1.0", "dlq.on_full: block",
     "a full DLQ no longer stops its queue from receiving: messages that were judged dead wait for "
     "room, and only with 1000 of them (or concurrency, if more) nothing is received",
     queue_blocks_when_full, NULL},
    {"0.1.0", "flood",
     "new, and by default {share: 80%, of: 50, window: 60s, then: alert}: the alert DLQFlood fires "
     "when most first attempts suddenly die of one failure",
     queue_alerts_of_floods, NULL},
    {"0.1.0", "source",
     "a broker's message whose hand-over failed is stored and settled at the broker, whether or "
     "not the attempt counted; only interrupted messages go back",
     queue_has_broker, NULL},
    {"0.1.0", "poison.deliveries",
     "deliveries at NATS that followed impound's own -NAK no longer count", queue_is_at_nats, NULL},
    {"0.1.0", "source: amqp",
     "a stream is refused; letters go back to their origin by exchange and routing key, or with "
     "origin=queue in the URL to their queue",
     queue_is_at_rabbitmq, NULL},
    {"0.1.0", "dlq.mirror: amqp",
     "the correlation_id of a letter is the property of that name, not a header",
     queue_mirrors_to_rabbitmq, NULL},
    {"0.1.0", "alerts.defaults",
     "DLQNotEmpty is a warning, DLQDepthHigh is critical and silences DLQNotEmpty, "
     "DLQDepthCritical "
     "is gone, DLQReasonSpike fires for a new reason at once; DLQFlood and MessageUnreadable are "
     "new",
     NULL, has_default_alerts},
    {"0.1.0", "limit",
     "of replays, decisions and exports takes the oldest letters; --newest and \"order\": "
     "\"newest\" take the newest, as before",
     NULL, always},
    {"0.1.0", "adopt.mode: take",
     "what Sidekiq or Spring Kafka had set for a later retry becomes pending_retry at that time in "
     "its configured queue; without a queue it is a letter, as before",
     NULL, takes_adopted},
    {"0.1.0", "adopt.source: amqp",
     "a stream is refused; the origin of a letter is the last queue in which a consumer rejected "
     "it or exhausted its deliveries, not the queue of its first death",
     NULL, adopts_from_rabbitmq},
    {"0.1.0", "jq programs", "bodies of type text/json and ...+json are JSON; they were strings",
     NULL, runs_jq},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* " (queue orders and 2 more)"; false: it affects no queue. */
static bool put_queues(const struct config *config,
                       bool (*concerns)(const struct config_queue *queue), struct buf *out) {
    size_t count = 0;
    struct bytes first = BYTES_NONE;
    for (size_t q = 0; q < config->queue_count; q++) {
        if (!concerns(&config->queues[q]))
            continue;
        if (count++ == 0)
            first = config->queues[q].name;
    }
    if (count == 0)
        return false;
    buf_printf(out, " (queue %.*s", BYTES_ARG(first));
    if (count > 1)
        buf_printf(out, " and %zu more", count - 1);
    buf_char(out, ')');
    return true;
}

void behaviour_put(const struct config *config, size_t from, struct buf *out) {
    for (size_t i = from; i < CHANGES; i++) {
        size_t before = out->len;
        buf_printf(out, "changed in %s: %s", changes[i].since, changes[i].setting);
        bool concerned = changes[i].concerns ? changes[i].concerns(config)
                                             : put_queues(config, changes[i].concerns_queue, out);
        if (concerned)
            buf_printf(out, ": %s\n", changes[i].now);
        else
            out->len = before;
    }
}

/* ---- the store's note ---- */

/* The number of table rows that the store knows. */
static size_t rows_known(struct triage *triage, bool *noted) {
    struct store *store = triage->store;
    struct arena arena;
    struct json note, value;
    struct bytes text;
    struct err err;
    int64_t rows = 0;
    arena_init_heap(&arena, CHUNK);
    *noted = letters_note(store->letters, 0, SPACE_VERSION, NOTE, triage_now(triage).wall, &arena,
                          &text, &err) == STATUS_OK;
    if (!*noted || json_parse(text, &note, NULL) != STATUS_OK ||
        !json_get(note, "changes", &value) || !json_i64(value, &rows) || rows < 0)
        rows = 0;
    arena_free(&arena);
    return (size_t)rows < CHANGES ? (size_t)rows : CHANGES;
}

static void note(struct triage *triage) {
    char memory[NOTE_MAX];
    struct buf text;
    struct err err;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "{\"version\":\"%s\",\"changes\":%d}", IMPOUND_VERSION, (int)CHANGES);
    struct store_op op = {
        .kind = STORE_KEEP,
        .keep = {
            .space = SPACE_VERSION, .name = NOTE, .value = buf_view(&text), .expires = WALL_NEVER}};
    if (triage_commit(triage, &op, 1, &err) != STATUS_OK)
        log_warn("the version that started was not noted: %s", err.text);
}

static void log_changes(const struct config *config, size_t from) {
    struct buf text;
    buf_init_heap(&text, LINES_MAX);
    behaviour_put(config, from, &text);
    struct bytes rest = buf_view(&text), line;
    while (bytes_line(&rest, &line))
        log_warn("%.*s", BYTES_ARG(line));
    buf_free(&text);
}

static bool is_new(struct store *store) {
    return store->vtable->next_seq(store) <= 1;
}

void behaviour_started(struct triage *triage, const struct config *config) {
    bool noted;
    size_t known = rows_known(triage, &noted);
    if (noted && known == CHANGES)
        return;
    if (noted || !is_new(triage->store))
        log_changes(config, known);
    note(triage);
}
