/* fault: see the header. */
#include "handler/common/fault.h"

#include "base/instant.h"
#include "core/trace/trace.h"
#include "handler/common/foreign_text.h"

static struct bytes text_of(struct json object, const char *name, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_get(object, name, &value) || !json_string(value, arena, &text))
        return BYTES_NONE;
    return text_safe(text, arena);
}

static int status_of(struct json object) {
    struct json value;
    int64_t status;
    if (!json_get(object, "status", &value) || !json_i64(value, &status) ||
        status < FAULT_STATUS_MIN || status > FAULT_STATUS_MAX)
        return 0;
    return (int)status;
}

/* Seconds, as a number or a text, or a duration such as "5m". */
static int64_t retry_after_ms(struct json object, struct arena *arena) {
    struct json value;
    struct bytes text;
    uint64_t seconds;
    int64_t ms;
    if (!json_get(object, "retry_after", &value))
        return -1;
    if (!json_string(value, arena, &text))
        text = value.text;
    if (bytes_u64(text, &seconds))
        return seconds < INT64_MAX / 1000 ? (int64_t)seconds * 1000 : INT64_MAX;
    return value.type == JSON_STRING && duration_parse(text, &ms) ? ms : -1;
}

/* `fallback` is for rules alone, as in the header of an HTTP answer. */
static void read_verdict(struct json object, struct arena *arena, struct outcome *out) {
    struct bytes word = text_of(object, "verdict", arena);
    if (!verdict_parse(word, &out->verdict) || out->verdict == VERDICT_FALLBACK)
        return;
    out->has_verdict = true;
    out->reason = bytes_clip(text_of(object, "reason", arena), OUTCOME_TYPE_MAX);
}

bool fault_read(struct json object, struct arena *arena, struct outcome *out) {
    *out = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_REPORTED,
        .status = status_of(object),
        .error_type = bytes_clip(text_of(object, "error_type", arena), OUTCOME_TYPE_MAX),
        .error_message = bytes_clip(text_of(object, "error_message", arena), OUTCOME_MESSAGE_MAX),
        .stack_trace = trace_tail(text_of(object, "stack_trace", arena)),
        .version = bytes_clip(text_of(object, "version", arena), OUTCOME_TYPE_MAX),
        .instance = bytes_clip(text_of(object, "consumer_instance", arena), OUTCOME_TYPE_MAX),
        .retry_after_ms = retry_after_ms(object, arena),
    };
    read_verdict(object, arena, out);
    return out->error_type.len || out->error_message.len || out->status || out->has_verdict;
}
