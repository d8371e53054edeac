#include "engine/features/tracing/tracing_span.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"

enum {
    NAME_SIZE = 512,
    NUMBER_SIZE = 24,
    SPAN_TEXT_MAX = 512,    /* bytes of an attribute */
    SPAN_TROUBLE_MAX = 256, /* bytes of a failure's text */
};

/* A span being filled in, with room for texts of its own. */
struct span_draft {
    const struct attempt *attempt;
    struct span span;
    char name[NAME_SIZE], error[NUMBER_SIZE];
};

/* ---- attributes ---- */

static struct span_attribute *next(struct span_draft *draft, const char *name) {
    struct span *span = &draft->span;
    assert(span->attribute_count < SPAN_ATTRIBUTES_MAX);
    struct span_attribute *attribute = &span->attributes[span->attribute_count++];
    attribute->name = name;
    return attribute;
}

static void put_text(struct span_draft *draft, const char *name, struct bytes text) {
    if (text.len > 0)
        next(draft, name)->text = bytes_clip(text, SPAN_TEXT_MAX);
}

static void put_number(struct span_draft *draft, const char *name, int64_t number) {
    next(draft, name)->number = number;
}

static struct bytes text_of(struct json source, const char *member, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_get(source, member, &value))
        return BYTES_NONE;
    return json_string(value, arena, &text) ? text : value.text;
}

static void put_coordinate(struct span_draft *draft, const struct broker_coordinate *coordinate,
                           struct bytes text) {
    uint64_t value;
    if (!coordinate->number)
        put_text(draft, coordinate->attribute, text);
    else if (bytes_u64(text, &value))
        put_number(draft, coordinate->attribute, (int64_t)value);
}

/* For a broker, its name for the source; otherwise the queue is the source. */
static void put_source(struct span_draft *draft) {
    struct arena *arena = &draft->attempt->held->arena;
    const struct envelope *envelope = &draft->attempt->held->envelope;
    const struct engine_options *options = &draft->attempt->queue->engine->options;
    const struct broker_kind *kind = NULL;
    struct json source;
    if (options->brokers && envelope->source.len &&
        json_parse(envelope->source, &source, NULL) == STATUS_OK)
        kind = broker_kind_find(options->brokers, text_of(source, "kind", arena));
    size_t before = draft->span.attribute_count;
    for (size_t i = 0; kind && kind->coordinates[i].member; i++)
        if (kind->coordinates[i].attribute)
            put_coordinate(draft, &kind->coordinates[i],
                           text_of(source, kind->coordinates[i].member, arena));
    bool ours = draft->span.attribute_count == before;
    put_text(draft, SPANS_GROUP, ours ? BYTES_NONE : draft->attempt->queue->group);
    put_text(draft, "messaging.system", ours ? BYTES("impound") : bytes_of(kind->name));
    if (ours)
        put_text(draft, SPANS_DESTINATION, draft->attempt->queue->name);
}

static void put_message(struct span_draft *draft) {
    const struct message *held = draft->attempt->held;
    put_source(draft);
    put_text(draft, "messaging.message.id", held->envelope.id);
    put_number(draft, "messaging.message.body.size", (int64_t)held->envelope.size);
    put_text(draft, "impound.queue", draft->attempt->queue->name);
}

/* The result, with the names that the history, the metrics and the letter use. */
static void put_verdict(struct span_draft *draft) {
    const struct attempt *attempt = draft->attempt;
    const struct envelope *envelope = &attempt->held->envelope;
    enum attempt_result result = attempt->tracing->result;
    put_text(draft, "impound.verdict", bytes_of(attempt_result_text(result)));
    put_text(draft, "impound.letter", envelope->letter_id);
    if (envelope->replays > 0)
        put_number(draft, "impound.replay", envelope->replays);
    if (result == RESULT_RETRY || result == RESULT_DLQ || result == RESULT_DISCARD)
        put_text(draft, "impound.category", envelope->category);
    if (result != RESULT_DLQ && result != RESULT_DISCARD)
        return;
    put_text(draft, "dlq.reason", envelope->reason);
    put_text(draft, "impound.cause", bytes_of(cause_text(envelope->cause)));
    put_text(draft, "impound.dlq", envelope->dlq);
}

/* error.type has few values: the handler's error type, else the status, else the kind. */
static void put_failure(struct span_draft *draft) {
    const struct outcome *outcome = &draft->attempt->outcome;
    if (outcome->status)
        put_number(draft, "http.response.status_code", outcome->status);
    if (outcome->kind == KIND_EXIT)
        put_number(draft, "process.exit.code", outcome->exit_code);
    if (outcome->ending != ENDING_FAILED)
        return;
    struct bytes type = bytes_of(kind_text(outcome->kind));
    if (outcome->error_type.len > 0) {
        type = outcome->error_type;
    } else if (outcome->status) {
        snprintf(draft->error, sizeof draft->error, "%d", outcome->status);
        type = bytes_of(draft->error);
    }
    put_text(draft, "error.type", type);
    draft->span.failed = true;
    draft->span.trouble = bytes_clip(outcome->error_message, SPAN_TROUBLE_MAX);
}

/* ---- spans ---- */

static void begin(struct span_draft *draft, const struct attempt *attempt, const char *operation,
                  const char *type, enum span_kind kind) {
    memset(draft, 0, sizeof *draft);
    draft->attempt = attempt;
    draft->span.own = attempt->tracing->own;
    draft->span.kind = kind;
    if (!attempt->tracing->begins)
        draft->span.trace_state = attempt->tracing->origin_state;
    snprintf(draft->name, sizeof draft->name, "%s %.*s", operation,
             BYTES_ARG(attempt->queue->name));
    draft->span.name = bytes_of(draft->name);
    put_text(draft, "messaging.operation.name", bytes_of(operation));
    put_text(draft, "messaging.operation.type", bytes_of(type));
    put_message(draft);
}

/* The duration is measured by the monotonic clock, since the wall clock may jump. */
static void lasts(struct span_draft *draft, struct instant from) {
    struct mono now = draft->attempt->queue->engine->now.mono;
    draft->span.from = from.wall;
    draft->span.to.ms = from.wall.ms + (now.ms - from.mono.ms);
}

/* Links to the message's origin, and to the end of the round before. */
static void link_back(struct span_draft *draft, uint32_t round_before) {
    const struct tracing *tracing = draft->attempt->tracing;
    struct span *span = &draft->span;
    if (tracing->came)
        span->links[span->link_count++] =
            (struct span_link){tracing->origin, tracing->origin_state};
    tracing_end_of_round(draft->attempt, round_before, &span->links[span->link_count++].to);
}

static void record(const struct span_draft *draft) {
    struct spans *spans = draft->attempt->queue->engine->options.spans;
    spans->vtable->record(spans, &draft->span);
}

static bool is_recorded(const struct attempt *attempt) {
    return attempt->tracing->own.flags & TRACEPARENT_SAMPLED;
}

void tracing_span_process(const struct attempt *attempt) {
    const struct tracing *tracing = attempt->tracing;
    struct span_draft draft;
    if (!is_recorded(attempt))
        return;
    begin(&draft, attempt, tracing->compensates ? "compensate" : "process", "process",
          SPAN_CONSUMER);
    memcpy(draft.span.parent, tracing->parent, SPAN_ID_SIZE);
    lasts(&draft, attempt->started);
    put_number(&draft, "impound.attempt", tracing->attempt);
    if (attempt->handler > 0)
        put_number(&draft, "impound.fallback", attempt->handler);
    put_verdict(&draft);
    put_failure(&draft);
    if (tracing->compensates)
        link_back(&draft, attempt->held->envelope.replays);
    record(&draft);
}

/* The span that makes a letter has a derived id, so that its replay can link to it. */
static void name_settle(struct span_draft *draft) {
    const struct attempt *attempt = draft->attempt;
    struct traceparent end;
    enum state state = attempt->held->envelope.state;
    bool letter = state == STATE_PENDING_REVIEW || state == STATE_DISCARDED;
    tracing_end_of_round(attempt, attempt->held->envelope.replays, &end);
    if (letter && attempt->purpose != PURPOSE_LATE_LETTER && !attempt->tracing->compensates)
        memcpy(draft->span.own.span_id, end.span_id, SPAN_ID_SIZE);
    else
        tracing_random_span(attempt->queue->engine, draft->span.own.span_id);
}

void tracing_span_settle(const struct attempt *attempt) {
    const struct tracing *tracing = attempt->tracing;
    struct span_draft draft;
    if (!is_recorded(attempt))
        return;
    begin(&draft, attempt, "settle", "settle", SPAN_CLIENT);
    /* The parent is the attempt's span, or, without one, the parent that it would have had. */
    memcpy(draft.span.parent, tracing->own.span_id, SPAN_ID_SIZE);
    name_settle(&draft);
    lasts(&draft, tracing->judged_at);
    if (tracing->attempt)
        put_number(&draft, "impound.attempt", tracing->attempt);
    put_verdict(&draft);
    record(&draft);
}

void tracing_span_replay(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct span_draft draft;
    if (!is_recorded(attempt))
        return;
    begin(&draft, attempt, "replay", "replay", SPAN_INTERNAL);
    tracing_replay_span(envelope, draft.span.own.span_id);
    draft.span.from = envelope->replayed_at;
    draft.span.to = attempt->queue->engine->now.wall;
    if (draft.span.to.ms < draft.span.from.ms)
        draft.span.to = draft.span.from;
    put_text(&draft, "impound.replay.id", envelope->replay);
    put_verdict(&draft);
    draft.span.failed = envelope->state == STATE_PENDING_REVIEW;
    link_back(&draft, envelope->replays - 1);
    record(&draft);
}
