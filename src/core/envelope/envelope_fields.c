/* envelope_fields: the tables. The numbers are stored: see the header before changing one. */
#include "core/envelope/envelope_fields.h"

#define SECTION(table) ((struct envelope_section){(table), sizeof(table) / sizeof *(table)})
#define AT(member)     offsetof(struct envelope, member), NULL
#define NOTE(member)   offsetof(struct envelope_note, member), NULL
#define WHOLE          0, NULL

static const struct envelope_field message_fields[] = {
    {"id", 1, FORM_TEXT, IN_ALL, AT(id)},
    {"queue", 2, FORM_TEXT, IN_ALL, AT(queue)},
    {"key", 3, FORM_MAYBE_TEXT, IN_ALL, AT(key)},
    {"headers", 4, FORM_HEADERS, IN_ALL, WHOLE},
    {"header_pairs", 10, FORM_HEADER_PAIRS, 0, WHOLE},
    {"content_type", 5, FORM_TEXT, IN_ALL, AT(content_type)},
    {"body", 6, FORM_BODY, IN_BODY | IN_LINE, WHOLE},
    {"content_hash", 7, FORM_HASH, IN_ALL, AT(content_hash)},
    {"size", 8, FORM_SIZE, IN_ALL, AT(size)},
    {"body_damaged", 9, FORM_FLAG, IN_ALL, AT(body_damaged)},
    {"body_file", 11, FORM_OPTIONAL_TEXT, IN_BODY, AT(body_file)},
};
static const struct envelope_section message_section = SECTION(message_fields);

static const struct envelope_field failure_fields[] = {
    {"kind", 1, FORM_KIND, IN_ALL, AT(kind)},
    {"status", 2, FORM_MAYBE_INT, IN_ALL, AT(status)},
    {"exit_code", 3, FORM_MAYBE_INT, IN_ALL, AT(exit_code)},
    {"signal", 4, FORM_MAYBE_INT, IN_ALL, AT(signal)},
    {"error_type", 5, FORM_TEXT, IN_ALL, AT(error_type)},
    {"error_message", 6, FORM_TEXT, IN_ALL, AT(error_message)},
    {"stack_trace", 7, FORM_TEXT, IN_STORED | IN_BODY | IN_LINE, AT(stack_trace)},
    {"fingerprint", 8, FORM_FINGERPRINT, IN_ALL, AT(fingerprint)},
    {"retry_after_ms", 9, FORM_MAYBE_I64, IN_ALL, AT(retry_after_ms)},
};
static const struct envelope_section failure_section = SECTION(failure_fields);

static const struct envelope_field consumer_fields[] = {
    {"instance", 1, FORM_TEXT, IN_ALL, AT(instance)},
    {"version", 2, FORM_TEXT, IN_ALL, AT(version)},
};
static const struct envelope_section consumer_section = SECTION(consumer_fields);

static const struct envelope_field task_fields[] = {
    {"id", 1, FORM_TEXT, IN_ALL, AT(task_id)},
    {"type", 2, FORM_TEXT, IN_ALL, AT(task_type)},
};
static const struct envelope_section task_section = SECTION(task_fields);

static const struct envelope_field top_fields[] = {
    {"id", 1, FORM_ID, IN_BODY | IN_ROW | IN_LINE, WHOLE},
    {"dlq", 2, FORM_TEXT, IN_ALL, AT(dlq)},
    {"state", 3, FORM_STATE, IN_ALL, AT(state)},
    {"cause", 4, FORM_CAUSE, IN_ALL, WHOLE},
    {"category", 5, FORM_TEXT, IN_ALL, AT(category)},
    {"reason", 6, FORM_TEXT, IN_ALL, AT(reason)},
    {"message", 7, FORM_SECTION, IN_ALL, 0, &message_section},
    {"source", 8, FORM_OBJECT, IN_ALL, AT(source)},
    {"failure", 9, FORM_FAILURE, IN_ALL, 0, &failure_section},
    {"attempts", 10, FORM_U32, IN_ALL, AT(attempts)},
    {"max_attempts", 11, FORM_U32, IN_ALL, AT(max_attempts)},
    {"crashes", 12, FORM_U32, IN_ALL, AT(crashes)},
    {"probes", 44, FORM_U32, IN_ALL, AT(probes)},
    {"replays", 13, FORM_U32, IN_ALL, AT(replays)},
    {"history", 14, FORM_HISTORY, IN_STORED | IN_BODY | IN_LINE, WHOLE},
    {"created_at", 15, FORM_TIME, IN_ALL, AT(created_at)},
    {"first_failure_at", 16, FORM_TIME, IN_ALL, AT(first_failure_at)},
    {"last_failure_at", 17, FORM_TIME, IN_ALL, AT(last_failure_at)},
    {"dead_at", 18, FORM_TIME, IN_ALL, AT(dead_at)},
    {"resolved_at", 19, FORM_TIME, IN_ALL, AT(resolved_at)},
    {"resolution", 20, FORM_RESOLUTION, IN_ALL, AT(resolution)},
    {"consumer", 21, FORM_SECTION, IN_ALL, 0, &consumer_section},
    {"task", 22, FORM_MAYBE_SECTION, IN_ALL, 0, &task_section},
    {"context", 23, FORM_CONTEXT, IN_ALL, AT(context)},
    {"owner", 24, FORM_TEXT, IN_ALL, AT(owner)},
    {"rule", 25, FORM_TEXT, IN_ALL, AT(rule)},
    {"first_attempt_at", 26, FORM_TIME, IN_ALL, AT(first_attempt_at)},
    {"next_attempt_at", 27, FORM_TIME, IN_ALL, AT(next_attempt_at)},
    {"escalated_at", 28, FORM_TIME, IN_ALL, AT(escalated_at)},
    {"why", 29, FORM_TEXT, IN_ALL, AT(why)},
    {"blocked_by", 30, FORM_TEXT, IN_ALL, AT(blocked_by)},
    {"replay", 31, FORM_TEXT, IN_ALL, AT(replay)},
    {"replayed_at", 39, FORM_TIME, IN_ALL, AT(replayed_at)},
    {"edited", 32, FORM_FLAG, IN_ALL, AT(edited)},
    /* not in a line: an imported letter is not read-only */
    {"read_only", 42, FORM_FLAG, IN_STORED | IN_BODY | IN_ROW, AT(read_only)},
    {"suspect", 33, FORM_FLAG, IN_ALL, AT(suspect)},
    {"compensating", 40, FORM_U32, IN_STORED, AT(compensating)},
    {"to_origin", 41, FORM_FLAG, IN_ALL, AT(to_origin)},
    {"refused", 50, FORM_FLAG, IN_ALL, AT(refused)},
    {"closes_key", 34, FORM_FLAG, IN_STORED | IN_LINE, AT(closes_key)},
    {"lease", 35, FORM_SIZE, IN_STORED, AT(lease)},
    {"lease_ms", 36, FORM_I64, IN_STORED, AT(lease_ms)},
    {"delay_ms", 37, FORM_I64, IN_STORED, AT(delay_ms)},
    {"letter_id", 38, FORM_TEXT, IN_STORED, AT(letter_id)},
    /* 43 was a flag of an earlier version */
};
const struct envelope_section envelope_fields = SECTION(top_fields);

static const struct envelope_field note_fields[] = {
    {"attempt", 1, FORM_U32, IN_ALL, NOTE(attempt)},
    {"at", 2, FORM_TIME, IN_ALL, NOTE(at)},
    {"duration_ms", 3, FORM_I64, IN_ALL, NOTE(duration_ms)},
    {"verdict", 4, FORM_VERDICT, IN_ALL, WHOLE},
    {"category", 5, FORM_TEXT, IN_ALL, NOTE(category)},
    {"error_type", 6, FORM_TEXT, IN_ALL, NOTE(error_type)},
    {"error_message", 7, FORM_TEXT, IN_ALL, NOTE(error_message)},
    {"delay_ms", 8, FORM_MAYBE_I64, IN_ALL, NOTE(delay_ms)},
    {"counted", 9, FORM_BOOL, IN_ALL, NOTE(counted)},
    {"replay", 10, FORM_U32, IN_ALL, NOTE(replay)},
    {"probe", 11, FORM_FLAG, IN_ALL, NOTE(probe)},
    {"compensation", 12, FORM_FLAG, IN_ALL, NOTE(compensation)},
};
const struct envelope_section envelope_fields_note = SECTION(note_fields);
