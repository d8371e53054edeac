#include "core/envelope_fields.h"

#define SECTION(table) ((struct envelope_section){(table), sizeof(table) / sizeof *(table)})
#define AT(member)     offsetof(struct envelope, member), NULL
#define NOTE(member)   offsetof(struct envelope_note, member), NULL
#define WHOLE          0, NULL

static const struct envelope_field message_fields[] = {
    {"id", FORM_TEXT, IN_ALL, AT(id)},
    {"queue", FORM_TEXT, IN_ALL, AT(queue)},
    {"key", FORM_MAYBE_TEXT, IN_ALL, AT(key)},
    {"headers", FORM_HEADERS, IN_ALL, WHOLE},
    {"content_type", FORM_TEXT, IN_ALL, AT(content_type)},
    {"body", FORM_BODY, IN_BODY, WHOLE},
    {"content_hash", FORM_HASH, IN_ALL, AT(content_hash)},
    {"size", FORM_SIZE, IN_ALL, AT(size)},
};
static const struct envelope_section message_section = SECTION(message_fields);

static const struct envelope_field failure_fields[] = {
    {"kind", FORM_KIND, IN_ALL, AT(kind)},
    {"status", FORM_MAYBE_INT, IN_ALL, AT(status)},
    {"exit_code", FORM_MAYBE_INT, IN_ALL, AT(exit_code)},
    {"signal", FORM_MAYBE_INT, IN_ALL, AT(signal)},
    {"error_type", FORM_TEXT, IN_ALL, AT(error_type)},
    {"error_message", FORM_TEXT, IN_ALL, AT(error_message)},
    {"stack_trace", FORM_TEXT, IN_STORED | IN_BODY, AT(stack_trace)},
    {"fingerprint", FORM_FINGERPRINT, IN_ALL, AT(fingerprint)},
    {"retry_after_ms", FORM_MAYBE_I64, IN_ALL, AT(retry_after_ms)},
};
static const struct envelope_section failure_section = SECTION(failure_fields);

static const struct envelope_field consumer_fields[] = {
    {"instance", FORM_TEXT, IN_ALL, AT(instance)},
    {"version", FORM_TEXT, IN_ALL, AT(version)},
};
static const struct envelope_section consumer_section = SECTION(consumer_fields);

static const struct envelope_field task_fields[] = {
    {"id", FORM_TEXT, IN_ALL, AT(task_id)},
    {"type", FORM_TEXT, IN_ALL, AT(task_type)},
};
static const struct envelope_section task_section = SECTION(task_fields);

static const struct envelope_field top_fields[] = {
    {"id", FORM_ID, IN_BODY | IN_ROW, WHOLE},
    {"dlq", FORM_TEXT, IN_ALL, AT(dlq)},
    {"state", FORM_STATE, IN_ALL, AT(state)},
    {"cause", FORM_CAUSE, IN_ALL, WHOLE},
    {"category", FORM_TEXT, IN_ALL, AT(category)},
    {"reason", FORM_TEXT, IN_ALL, AT(reason)},
    {"message", FORM_SECTION, IN_ALL, 0, &message_section},
    {"source", FORM_OBJECT, IN_ALL, AT(source)},
    {"failure", FORM_FAILURE, IN_ALL, 0, &failure_section},
    {"attempts", FORM_U32, IN_ALL, AT(attempts)},
    {"max_attempts", FORM_U32, IN_ALL, AT(max_attempts)},
    {"crashes", FORM_U32, IN_ALL, AT(crashes)},
    {"replays", FORM_U32, IN_ALL, AT(replays)},
    {"history", FORM_HISTORY, IN_STORED | IN_BODY, WHOLE},
    {"created_at", FORM_TIME, IN_ALL, AT(created_at)},
    {"first_failure_at", FORM_TIME, IN_ALL, AT(first_failure_at)},
    {"last_failure_at", FORM_TIME, IN_ALL, AT(last_failure_at)},
    {"dead_at", FORM_TIME, IN_ALL, AT(dead_at)},
    {"resolved_at", FORM_TIME, IN_ALL, AT(resolved_at)},
    {"resolution", FORM_RESOLUTION, IN_ALL, AT(resolution)},
    {"consumer", FORM_SECTION, IN_ALL, 0, &consumer_section},
    {"task", FORM_MAYBE_SECTION, IN_ALL, 0, &task_section},
    {"context", FORM_CONTEXT, IN_ALL, AT(context)},
    {"owner", FORM_TEXT, IN_ALL, AT(owner)},
    {"rule", FORM_TEXT, IN_ALL, AT(rule)},
    {"first_attempt_at", FORM_TIME, IN_ALL, AT(first_attempt_at)},
    {"next_attempt_at", FORM_TIME, IN_ALL, AT(next_attempt_at)},
    {"escalated_at", FORM_TIME, IN_ALL, AT(escalated_at)},
    {"why", FORM_TEXT, IN_ALL, AT(why)},
    {"blocked_by", FORM_TEXT, IN_ALL, AT(blocked_by)},
    {"replay", FORM_TEXT, IN_ALL, AT(replay)},
    {"replayed_at", FORM_TIME, IN_ALL, AT(replayed_at)},
    {"edited", FORM_FLAG, IN_ALL, AT(edited)},
    {"suspect", FORM_FLAG, IN_ALL, AT(suspect)},
    {"compensating", FORM_U32, IN_STORED, AT(compensating)},
    {"closes_key", FORM_FLAG, IN_STORED, AT(closes_key)},
    {"lease", FORM_SIZE, IN_STORED, AT(lease)},
    {"lease_ms", FORM_I64, IN_STORED, AT(lease_ms)},
    {"delay_ms", FORM_I64, IN_STORED, AT(delay_ms)},
    {"letter_id", FORM_TEXT, IN_STORED, AT(letter_id)},
};
const struct envelope_section envelope_fields = SECTION(top_fields);

static const struct envelope_field note_fields[] = {
    {"attempt", FORM_U32, IN_ALL, NOTE(attempt)},
    {"at", FORM_TIME, IN_ALL, NOTE(at)},
    {"duration_ms", FORM_I64, IN_ALL, NOTE(duration_ms)},
    {"verdict", FORM_VERDICT, IN_ALL, WHOLE},
    {"category", FORM_TEXT, IN_ALL, NOTE(category)},
    {"error_type", FORM_TEXT, IN_ALL, NOTE(error_type)},
    {"error_message", FORM_TEXT, IN_ALL, NOTE(error_message)},
    {"delay_ms", FORM_MAYBE_I64, IN_ALL, NOTE(delay_ms)},
    {"counted", FORM_BOOL, IN_ALL, NOTE(counted)},
    {"replay", FORM_U32, IN_ALL, NOTE(replay)},
    {"probe", FORM_FLAG, IN_ALL, NOTE(probe)},
    {"compensation", FORM_FLAG, IN_ALL, NOTE(compensation)},
};
const struct envelope_section envelope_fields_note = SECTION(note_fields);
