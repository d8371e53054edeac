/* Log lines and events about messages and queues. */
#include "base/json/json.h"
#include "core/lifecycle.h"
#include "engine/features/tracing/tracing.h"

enum {
    NOTICE_MAX = 4096,
    NOTICE_TEXT_MAX = 512,
    LETTER_LINES_MAX = 10, /* lines within LETTER_LINES_MS */
    LETTER_LINES_MS = 1000,
};

static bool wanted(const struct engine *engine) {
    return engine->options.event != NULL;
}

static struct json_out begin(const struct queue *queue, struct buf *buf, const char *type) {
    char at[INSTANT_TEXT_SIZE];
    struct json_out out = json_out(buf);
    json_open(&out, '{');
    json_key(&out, "type");
    json_put_str(&out, type);
    json_key(&out, "at");
    json_put_str(&out, wall_text(queue->engine->now.wall, at));
    json_key(&out, "queue");
    json_put(&out, queue->name);
    return out;
}

static void field(struct json_out *out, const char *key, struct bytes text) {
    json_key(out, key);
    json_put(out, bytes_clip(text, NOTICE_TEXT_MAX));
}

static void send(const struct queue *queue, struct json_out *out, const char *type,
                 const struct envelope *letter) {
    const struct engine_options *options = &queue->engine->options;
    json_close(out, '}');
    if (!out->buf->overflow)
        options->event(options->event_arg,
                       &(struct engine_event){type, buf_view(out->buf), letter});
}

static bool has_line(struct letter_lines *lines, struct mono now) {
    if (now.ms - lines->since.ms >= LETTER_LINES_MS)
        *lines = (struct letter_lines){.since = now, .silent = lines->silent};
    if (lines->count++ < LETTER_LINES_MAX)
        return true;
    lines->silent++;
    return false;
}

/* The log gets the reason of the death and nothing else of the letter's contents. */
static void log_letter(const struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    const struct envelope *envelope = &attempt->held->envelope;
    struct letter_lines *lines = &engine->letter_lines;
    bool dead = envelope->state == STATE_PENDING_REVIEW, gone = envelope->state == STATE_DISCARDED;
    if ((!dead && !gone) || !has_line(lines, engine->now.mono))
        return;
    if (lines->silent > 0)
        log_info("%llu letters arrived that no line tells of", (unsigned long long)lines->silent);
    lines->silent = 0;
    struct log_about about = attempt_about(attempt);
    log_about(LOG_INFO, &about, "%s: %s, %.*s, %.*s, in %.*s", dead ? "dead" : "discarded",
              cause_text(envelope->cause), BYTES_ARG(envelope->category),
              BYTES_ARG(envelope->reason), BYTES_ARG(envelope->dlq));
}

void notice_letter(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    log_letter(attempt);
    char memory[NOTICE_MAX];
    struct buf buf;
    if (!wanted(attempt->queue->engine) || !lifecycle_is_letter(envelope->state) ||
        envelope->state == STATE_REPLAYING)
        return;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct json_out out = begin(attempt->queue, &buf, "letter");
    field(&out, "id", envelope->letter_id);
    field(&out, "message_id", envelope->id);
    field(&out, "dlq", envelope->dlq);
    field(&out, "state", bytes_of(state_text(envelope->state)));
    field(&out, "cause", bytes_of(cause_text(envelope->cause)));
    field(&out, "category", envelope->category);
    field(&out, "reason", envelope->reason);
    field(&out, "error_type", envelope->error_type);
    field(&out, "error_message", envelope->error_message);
    if (envelope->replay.len > 0)
        field(&out, "replay", envelope->replay);
    json_key(&out, "spilled");
    json_put_bool(&out, attempt->spill == SPILL_SYNCED);
    send(attempt->queue, &out, "letter", envelope);
}

void notice_queue(const struct queue *queue) {
    char memory[NOTICE_MAX];
    struct buf buf;
    if (!wanted(queue->engine))
        return;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct json_out out = begin(queue, &buf, "queue");
    field(&out, "state", bytes_of(queue_state_text(queue->state)));
    if (queue->why[0] != '\0')
        field(&out, "why", bytes_of(queue->why));
    send(queue, &out, "queue", NULL);
}

void notice_breaker(const struct queue *queue) {
    char memory[NOTICE_MAX];
    struct buf buf;
    if (!wanted(queue->engine))
        return;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct json_out out = begin(queue, &buf, "breaker");
    field(&out, "state", bytes_of(breaker_state_text(queue->breaker.state)));
    send(queue, &out, "breaker", NULL);
}
