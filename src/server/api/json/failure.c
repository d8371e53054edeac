#include "server/api/json/failure.h"

enum status failure_text(struct json value, struct arena *arena, struct bytes *out,
                         struct err *err) {
    if (value.type == JSON_NULL || json_string(value, arena, out))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "must be a string, not %s", json_type_name(value.type));
}

enum status failure_number(struct json value, int64_t min, int64_t max, int64_t *out,
                           struct err *err) {
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (json_i64(value, out) && *out >= min && *out <= max)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "must be a whole number from %lld to %lld", (long long)min,
                   (long long)max);
}

enum status failure_status(struct json value, struct outcome *outcome, struct err *err) {
    int64_t code = 0;
    enum status status = failure_number(value, FAILURE_STATUS_MIN, FAILURE_STATUS_MAX, &code, err);
    outcome->status = (int)code;
    return status;
}

static bool read_retry_after(struct json value, struct wall now, struct arena *arena, int64_t *ms) {
    struct bytes text;
    uint64_t seconds = 0;
    int64_t number;
    if (!json_string(value, arena, &text))
        text = value.text;
    bool known = bytes_u64(text, &seconds);
    if (!known && json_i64(value, &number) && number >= 0) { /* accepts 5.0 */
        known = true;
        seconds = (uint64_t)number;
    }
    if (known) {
        bool most = seconds >= (uint64_t)FAILURE_RETRY_AFTER_MAX_MS / 1000;
        *ms = most ? FAILURE_RETRY_AFTER_MAX_MS : (int64_t)seconds * 1000;
        return true;
    }
    if (value.type != JSON_STRING)
        return false;
    struct wall date;
    if (wall_parse_http(text, &date)) {
        *ms = date.ms > now.ms ? date.ms - now.ms : 0;
        return true;
    }
    return duration_parse(text, ms);
}

/* A time that is too far away does not refuse the failure: the policy has its own cap. */
enum status failure_retry_after(struct json value, struct wall now, struct arena *arena,
                                struct outcome *outcome, struct err *err) {
    int64_t ms = -1;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!read_retry_after(value, now, arena, &ms))
        return err_set(err, STATUS_INVALID,
                       "must be a number of seconds, an HTTP date or a duration such as \"5m\"");
    outcome->retry_after_ms = ms < FAILURE_RETRY_AFTER_MAX_MS ? ms : FAILURE_RETRY_AFTER_MAX_MS;
    return STATUS_OK;
}

enum status failure_verdict(struct json value, struct arena *arena, struct outcome *outcome,
                            struct err *err) {
    struct bytes text;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_string(value, arena, &text) || !verdict_parse(text, &outcome->verdict))
        return err_set(err, STATUS_INVALID, "must be retry, fallback, dlq, discard or halt");
    outcome->has_verdict = true;
    return STATUS_OK;
}
